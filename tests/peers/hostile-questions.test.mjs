// A server with bad intentions: questions that nobody should be asked. Forms beyond every bound, links that lead nowhere good, secrets in disguise.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { OUTCOME, WORD, elicit, form, link, shared, text } from "./raw.mjs";

/** Forms that can't be read, by what they are; `true` if a bound is the reason. */
const UNREADABLE = {
  "201 fields": [form(Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, { type: "string" }]))), true],
  "a message of 65 KB": [{ ...WORD, message: "x".repeat(65 * 1024) }, true],
  "a schema of 257 KB": [form({ a: { type: "string", description: "x".repeat(257 * 1024) } }), true],
  "a choice of 2,001": [form({ a: { type: "string", enum: Array.from({ length: 2_001 }, (_, n) => `o${n}`) } }), true],
  "200 levels": [form({ a: Array(200).fill().reduce((inner) => ({ type: "object", properties: { a: inner } }), { type: "string" }) }), true],
  "a name of 257 bytes": [form({ ["n".repeat(257)]: { type: "string" } }), true],
  "an unknown field": [form({ password: { type: "hologram" } }), false],
  "mode FORM": [form({ password: { type: "string" } }, { mode: "FORM" }), false],
  "no schema": [{ message: "Password?" }, false],
  "a schema that isn't an object": [{ message: "Password?", requestedSchema: [] }, false],
};

describe("forms that can't be read", () => {
  for (const [name, options] of [
    ["on the page", { flags: ["--ask", "page"] }],
    ["for a client without forms", { capabilities: {} }],
    ["with secrets refused", { policy: 'secrets = "refuse"' }],
    ["with routes", { policy: '[[rule]]\ntool = "do"\nroutes = "client"' }],
    ["with asks_per_minute", { policy: "asks_per_minute = 100" }],
    ["with a profile", { flags: ["--client-profile", "vscode"] }],
  ]) {
    describe(name, () => {
      const suite = shared(options);
      for (const [what, [params]] of Object.entries(UNREADABLE)) {
        test(what, () => suite.peers.refuses(JSON.stringify(elicit(params)), { id: 7, code: -32602 }));
      }
    });
  }

  describe("with no rule at all", () => {
    const suite = shared();
    for (const [what, [params, isTooLarge]] of Object.entries(UNREADABLE)) {
      if (isTooLarge) {
        test(`${what} is refused`, () => suite.peers.refuses(JSON.stringify(elicit(params)), { id: 7, code: -32602 }));
        continue;
      }
      test(`${what} is the client's to show, and its answer is told to be unchecked`, async () => {
        const { peers } = suite;
        const call = await peers.call();
        const { id, response } = peers.asks(params);
        assert.deepEqual((await peers.question()).params, params);
        peers.answer(id, { action: "accept", content: { password: "x" }, _meta: { [OUTCOME]: { checked: true } } });
        const { result } = await response;
        assert.deepEqual(result._meta[OUTCOME], { state: "answered", by: { route: "client", human: true }, checked: false });
        await call.ends();
      });
    }

    test("its answer may not be larger than any other", async () => {
      const { peers } = suite;
      const call = await peers.call();
      const { id, response } = peers.asks(UNREADABLE["an unknown field"][0]);
      await peers.question();
      peers.answer(id, { action: "accept", content: { password: "x".repeat(1024 * 1024) } });
      assert.match((await response).error.message, /too long/);
      await call.ends();
    });
  });
});

/** Links that nobody should open, with a word of the reason. */
const REFUSED = {
  "javascript:alert(1)": /javascript/,
  "JavaScript:alert(1)": /javascript/,
  "java\tscript:alert(1)": /U\+0009/,
  " https://example.com/": /U\+0020/,
  "data:text/html,<script>alert(1)</script>": /data/,
  "file:///etc/passwd": /file/,
  "vbscript:x": /vbscript/,
  "blob:https://example.com/1": /blob/,
  "chrome://settings": /chrome/,
  "ftp://example.com/": /ftp/,
  "https:/\\evil.example": /backslash/,
  "https:\\\\evil.example\\@example.com": /backslash/,
  "http://intranet.example/": /./,
  "https://exa\u202emple.com/": /U\+202E/,
  "https://exa\u200bmple.com/": /U\+200B/,
  "https://example.com/\u2028": /U\+2028/,
  "//evil.example/login": /./,
  "/login": /./,
  "https://": /./,
  "": /./,
  [`https://example.com/${"x".repeat(10_000)}`]: /./,
};
const shown = (url) => JSON.stringify(url).slice(0, 60);

describe("schemas that lead nowhere", () => {
  const suite = shared();
  const $ref = (to) => ({ $ref: to });
  /** Groups of ten within each other, which are ten to the ninth fields. */
  const tens = Object.fromEntries(Array.from({ length: 10 }, (_, n) => {
    const inner = Object.fromEntries(Array.from({ length: 10 }, (_, k) => [`p${k}`, $ref(`#/$defs/d${n - 1}`)]));
    return [`d${n}`, n ? { type: "object", properties: inner } : { type: "string" }];
  }));
  const within = ($defs, a) => form({}, { requestedSchema: { type: "object", properties: { a }, $defs } });
  test("a thousand million fields by reference are counted, not built", async () => {
    const { message } = await suite.peers.refuses(JSON.stringify(elicit(within(tens, $ref("#/$defs/d9")))), { id: 7, code: -32602 });
    assert.match(message, /more than 200 fields/);
  });

  for (const [name, params] of Object.entries({
    "a reference to itself": form({ a: $ref("#") }),
    "references in a circle": within({ a: $ref("#/$defs/b"), b: $ref("#/$defs/a") }, $ref("#/$defs/a")),
    "a reference to another machine": form({ a: $ref("https://evil.example/schema") }),
    "a reference to a file": form({ a: $ref("file:///etc/passwd") }),
    "a pattern that would fill the memory": form({ a: { type: "string", pattern: "((a{1000}){1000}){1000}" } }),
    "a wait beyond all clocks": { ...WORD, _meta: { "dev.midcall/timeoutMs": 1e300 } },
    "a wait before all clocks": { ...WORD, _meta: { "dev.midcall/timeoutMs": -1 } },
  })) {
    test(`${name} is asked or refused, once, and the next question is served`, async () => {
      const { peers } = suite;
      const call = await peers.call();
      const { id, response } = peers.asks(params);
      await peers.settles();
      const asked = peers.client.lines.filter((line) => line.includes(`"id":"${id}"`)).length;
      if (asked) peers.answer((await peers.question()).id, { action: "decline" });
      const { result, error } = await response;
      assert.deepEqual([asked, result?.action, error === undefined], asked ? [1, "decline", true] : [0, undefined, false]);
      await call.ends();
      await peers.serves();
    });
  }
});

describe("links that nobody should open", () => {
  /** Nothing of the link has reached the client. */
  function isKept(peers, counts, url) {
    const { client } = peers.since(counts);
    assert.ok(!url || client.every((line) => !line.includes(JSON.stringify(url).slice(1, -1))), client.join("\n"));
    assert.ok(client.every((line) => !line.includes("elicitation/create")));
  }

  for (const [ask, options] of [["client", {}], ["page", { flags: ["--ask", "page"] }]]) {
    describe(`by a request, for the ${ask}`, () => {
      const suite = shared(options);
      for (const [url, why] of Object.entries(REFUSED)) {
        if (ask === "page" && url.length > 60) continue;
        test(shown(url), async () => {
          const { message } = await suite.peers.refuses(JSON.stringify(elicit(link(url))), { id: 7, why: /this link is refused/ });
          assert.match(message, why);
        });
      }
    });
  }

  describe("by -32042", () => {
    const suite = shared();
    for (const [url, why] of Object.entries(REFUSED)) {
      test(shown(url), async () => {
        const { peers } = suite;
        const call = await peers.call();
        const counts = peers.counts;
        peers.server.send({ id: call.known, error: { code: -32042, message: "Sign in", data: { elicitations: [link("https://example.com/"), link(url)] } } });
        const { error } = await call.response;
        assert.equal(error.code, -32603);
        assert.match(error.message, why);
        isKept(peers, counts, url);
      });
    }

    const L = JSON.stringify(link("javascript:alert(1)"));
    for (const [name, error] of [
      ["-32042.0", `{"code":-32042.0,"message":"m","data":{"elicitations":[${L}]}}`],
      ["-3.2042e4", `{"code":-3.2042e4,"message":"m","data":{"elicitations":[${L}]}}`],
      ["data twice, the link first", `{"code":-32042,"message":"m","data":{"elicitations":[${L}]},"data":{}}`],
      ["data twice, the link last", `{"code":-32042,"message":"m","data":{},"data":{"elicitations":[${L}]}}`],
      ["a second code", `{"code":1,"code":-32042,"message":"m","data":{"elicitations":[${L}]}}`],
      ["Code", `{"code":1,"Code":-32042,"message":"m","data":{"elicitations":[${L}]}}`],
      ["Elicitations", `{"code":-32042,"message":"m","data":{"Elicitations":[${L}]}}`],
      ["beside one that can't be read", `{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"hologram"},${L}]}}`],
      ["mode URL", `{"code":-32042,"message":"m","data":{"elicitations":[${L.replace('"url"', '"URL"')}]}}`],
      ["a message that is a number", `{"code":-32042,"message":"m","data":{"elicitations":[${L.replace('"Sign in"', "7")}]}}`],
      ["url twice", `{"code":-32042,"message":"m","data":{"elicitations":[${L.replace('"elicitationId"', '"url":"https://example.com/","elicitationId"')}]}}`],
      ["url and Url", `{"code":-32042,"message":"m","data":{"elicitations":[${L.replace('"url":"java', '"url":"https://example.com/","Url":"java')}]}}`],
    ]) {
      test(`in disguise: ${name}`, async () => {
        const { peers } = suite;
        const call = await peers.call();
        peers.server.write(`{"jsonrpc":"2.0","id":${call.known},"error":${error}}`);
        const response = await call.response;
        assert.equal(response.error.code, -32603);
        assert.doesNotMatch(JSON.stringify(response), /alert/);
      });
    }
  });

  for (const isModern of [false, true]) {
    describe(`by a round, for a ${isModern ? "modern" : "legacy"} client`, () => {
      const suite = shared({ era: "modern", isModern });
      const round = async (peers, result) => {
        const call = await peers.call();
        const counts = peers.counts;
        peers.server.write(`{"jsonrpc":"2.0","id":${JSON.stringify(call.known)},"result":${result}}`);
        return { call, counts };
      };
      /** The server is called again with a cancel for its question and the reason, and the client is asked nothing. */
      const isCancelled = async (peers, result, why) => {
        const { call, counts } = await round(peers, result);
        const again = await peers.server.hears(({ method }) => method === "tools/call");
        assert.deepEqual(again.params.inputResponses, { a: { action: "cancel" } });
        const { state, reason } = again.params._meta[OUTCOME].a;
        assert.equal(state, "unavailable");
        assert.match(reason, why);
        peers.server.send({ id: again.id, result: { resultType: "complete", ...text("done") } });
        assert.deepEqual((await call.response).result.content, text("done").content);
        const { client } = peers.since(counts);
        assert.deepEqual(client.map((line) => JSON.parse(line).id), [call.id], "the result is all that the client gets");
      };
      const asks = (params) => JSON.stringify({ resultType: "input_required", inputRequests: { a: { method: "elicitation/create", params } }, requestState: "s" });
      for (const [url, why] of Object.entries(REFUSED)) {
        test(shown(url), () => isCancelled(suite.peers, asks(link(url, { elicitationId: undefined })), why));
      }
      test("a form of 201 fields", () => isCancelled(suite.peers, asks(UNREADABLE["201 fields"][0]), /200/));

      const J = JSON.stringify({ method: "elicitation/create", params: link("javascript:alert(1)", { elicitationId: undefined }) });
      for (const [name, result] of [
        ["beside one that isn't a request", `{"resultType":"input_required","inputRequests":{"a":${J},"b":7}}`],
        ["beside one that can't be read", `{"resultType":"input_required","inputRequests":{"a":${J},"b":{"method":"elicitation/create","params":7}}}`],
        ["resultType twice, the round last", `{"resultType":"complete","resultType":"input_required","inputRequests":{"a":${J}}}`],
        ["resultType twice, the round first", `{"resultType":"input_required","resultType":"complete","inputRequests":{"a":${J}}}`],
        ["ResultType", `{"ResultType":"input_required","inputRequests":{"a":${J}}}`],
        ["inputRequests twice", `{"resultType":"input_required","inputRequests":{"a":${J}},"inputRequests":{}}`],
        ["a key twice", `{"resultType":"input_required","inputRequests":{"a":${J},"a":{"method":"roots/list"}}}`],
        ["mode URL", `{"resultType":"input_required","inputRequests":{"a":${J.replace('"url"', '"URL"')}}}`],
      ]) {
        test(`in disguise: ${name}`, async () => {
          const { call } = await round(suite.peers, result);
          const response = await call.response;
          assert.ok(response.error.code < 0);
          assert.doesNotMatch(JSON.stringify(response), /alert/);
        });
      }
      for (const [name, result, why] of [
        ["url and URL", `{"resultType":"input_required","inputRequests":{"a":${J.replace('"url":"java', '"url":"https://example.com/","URL":"java')}}}`, /./],
        ["input_required in escapes", `{"resultType":"input\\u005frequired","inputRequests":{"a":${J}}}`, /javascript/],
      ]) test(`in disguise: ${name}`, () => isCancelled(suite.peers, result, why));
    });
  }

  describe("in a question of another mode", () => {
    const suite = shared();
    const url = "javascript:alert(1)";
    for (const [name, params] of Object.entries({
      URL: link(url, { mode: "URL" }),
      "no mode": link(url, { mode: undefined }),
      "null": link(url, { mode: null }),
      "form without a schema": link(url, { mode: "form" }),
      "a url in a list": link([url]),
      "a schema that is a number": link(url, { mode: "form", requestedSchema: 7 }),
    })) test(name, () => suite.peers.refuses(JSON.stringify(elicit(params)), { id: 7, code: -32602 }));
  });
});

describe("links that need a warning", () => {
  const suite = shared();
  for (const [url, warning] of Object.entries({
    "https://github.com@evil.example/login": /evil\.example/,
    "https://192.0.2.7/": /192\.0\.2\.7/,
    "https://0x7f.1/": /127\.0\.0\.1/,
    "https://xn--pypal-4ve.com/": /xn--pypal-4ve\.com/,
    "https://example.com:8443/": /8443/,
  })) {
    test(url, async () => {
      const { peers } = suite;
      const call = await peers.call();
      const { id, response } = peers.asks(link(url));
      const { params } = await peers.question();
      const [own, warned] = params.message.split("\n\n⚠ ");
      assert.equal(own, "Sign in");
      assert.match(warned, warning);
      assert.equal(params.url, url);
      peers.answer(id, { action: "decline" });
      assert.equal((await response).result.action, "decline");
      await call.ends();
    });
  }
});

/** Words for secrets in ten languages. */
const SECRETS = {
  English: "password", Portuguese: "senha", Spanish: "contraseña", French: "mot de passe", German: "Passwort",
  Italian: "parola d'ordine", Russian: "пароль", Chinese: "密码", Japanese: "パスワード", Hindi: "पासवर्ड",
};
const between = (mark) => (name) => [...name].join(mark);
const DISGUISES = {
  "zero-width spaces": between("\u200b"),
  "soft hyphens": between("\u00ad"),
  "word joiners and marks of direction": (name) => `\u202e${between("\u2060")(name)}\u202c`,
  "capital letters": (name) => name.toUpperCase(),
  "its decomposition": (name) => name.normalize("NFD"),
};

describe("secrets in disguise", () => {
  const suite = shared({ policy: 'secrets = "refuse"' });
  const isSecret = (properties, more) => suite.peers.refuses(JSON.stringify(elicit(form(properties, more))), { id: 7, why: /asks for a secret/ });
  for (const [language, name] of Object.entries(SECRETS)) {
    for (const [how, disguise] of Object.entries(DISGUISES)) {
      test(`${language} with ${how}`, () => isSecret({ a: { type: "string", title: disguise(name) } }));
    }
  }
  for (const name of ["pass_word", "passw0rd", "p\u0430ssword", "ｐａｓｓｗｏｒｄ", "PASS-WORD", "api.key", "apiKey", "s\u0435cret_t\u043eken", "PIN", "credit card number", "cvv", "seed phrase", "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝"]) {
    test(`a field called ${JSON.stringify(name)}`, () => isSecret({ [name]: { type: "string" } }));
  }
  test("in a description", () => isSecret({ a: { type: "string", description: "Enter your p\u00adassword" } }));
  test("in a group", () => isSecret({ a: { type: "object", properties: { password: { type: "string" } } } }));
  test("behind a reference", () => isSecret({ a: { $ref: "#/$defs/s" } }, { requestedSchema: { type: "object", properties: { a: { $ref: "#/$defs/s" } }, $defs: { s: { type: "string", title: "Password" } } } }));
  test("what only sounds like one is asked", () => suite.peers.serves());
});

