/**
 * The kinds that few forms have.
 */
import { choices } from "./choices.js";
import { group } from "./group.js";
import { json } from "./json.js";
import { tags } from "./tags.js";

export { parse } from "./json.js";

/** @type {Record<string, import("../field.js").Kind>} */
export const KINDS = { choices, group, json, tags };
