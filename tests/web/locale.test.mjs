/** Plurals, parameters and languages, as `crates/core/tests/core/catalog.rs` tells them. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { load, negotiate, say } from "../../crates/web/js/locale.js";

const TOO_LONG = "mcp.elicitation.problem.too_long";
const TOO_SMALL = "mcp.elicitation.problem.too_small";
const ASKS = "mcp.elicitation.label.asks_for_tool";

test("a locale that is not loaded speaks English", async () => {
  assert.equal(say("pt-BR", "mcp.elicitation.action.accept"), "Submit");
  await load("pt-BR");
  await load("tlh");
  assert.equal(say("pt-BR", "mcp.elicitation.action.accept"), "Enviar");
  assert.equal(say("tlh", "mcp.elicitation.action.accept"), "Submit");
});

test("plurals follow each language", () => {
  for (const [count, en, pt] of [
    [0, "0 characters", "0 caractere"],
    [1, "1 character", "1 caractere"],
    [1n, "1 character", "1 caractere"],
    [1.5, "1.5 characters", "1,5 caractere"],
    [2, "2 characters", "2 caracteres"],
    [1_000_000, "1000000 characters", "1000000 caracteres"],
    ["many", "many characters", "many caracteres"],
  ]) {
    assert.equal(say("en-US", TOO_LONG, { count }), "Use at most " + en);
    assert.equal(say("pt-BR", TOO_LONG, { count }), "Use no máximo " + pt);
  }
});

test("numbers have the decimal sign of their language", () => {
  for (const [min, en, pt] of [
    [12_345, "12345", "12345"],
    [-7, "-7", "-7"],
    [18446744073709551615n, "18446744073709551615", "18446744073709551615"],
    [0.25, "0.25", "0,25"],
    [1e300, "1e300", "1e300"],
    [2.5e-9, "2.5e-9", "2,5e-9"],
    ["1.5", "1.5", "1.5"],
  ]) {
    assert.equal(say("en-US", TOO_SMALL, { min }), `Enter ${en} or more`);
    assert.equal(say("pt-BR", TOO_SMALL, { min }), `Digite ${pt} ou mais`);
  }
});

test("braces and dollars in a parameter mean nothing, and what is missing stays visible", () => {
  assert.equal(say("en-US", ASKS, { server: "{tool}", tool: "$&{server" }), "{tool} ($&{server) asks");
  assert.equal(say("en-US", ASKS, { tool: "book" }), "{server} (book) asks");
  assert.equal(say("en-US", TOO_LONG), "Use at most {count} characters");
  assert.equal(say("pt-BR", "no.such.{key}"), "no.such.{key}");
  assert.equal(say("en-US", "toString"), "toString");
});

test("the language is found in whatever names it", () => {
  const table = {
    pt: "pt-BR", "PT-br": "pt-BR", "pt-PT": "pt-BR", "pt_BR.UTF-8": "pt-BR", "pt:en": "pt-BR", "en:pt": "en-US",
    "en-GB": "en-US", "pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7": "pt-BR", "en;q=0.3, pt;q=0.7": "pt-BR",
    "fr-FR, fr;q=0.9, pt;q=0.1": "pt-BR", "pt;q=0, en;q=0.1": "en-US", "pt;q=0.5, *;q=0.9": "en-US", "pt, en": "pt-BR",
    "pt;q=nan, en;q=0.1": "en-US", "pt;q=7, en;q=0.1": "en-US", ptolemaic: "en-US", C: "en-US", "": "en-US", ";;,,::": "en-US",
  };
  for (const [preferred, tag] of Object.entries(table)) assert.equal(negotiate(preferred), tag, preferred);
  assert.equal(negotiate(["fr", "pt-PT", "en"]), "pt-BR");
  assert.equal(negotiate([]), "en-US");
});

test("both languages have the same keys", async () => {
  const read = async (name) => JSON.parse(await readFile(new URL(`../../crates/web/js/locales/${name}.json`, import.meta.url), "utf8"));
  for (const more of ["", ".more"]) assert.deepEqual(Object.keys(await read("en-US" + more)), Object.keys(await read("pt-BR" + more)));
});
