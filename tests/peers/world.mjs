// The world of a story: the real binary between real peers, and a person beside them.
// Everything that a file of stories started is ended after it.
import { after } from "node:test";
import { leave } from "./processes.mjs";

export * from "./processes.mjs";
after(leave);
