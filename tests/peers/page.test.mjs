// The page itself, in a real browser, as the gateway opens it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browse, tab } from "./browser.mjs";
import { AT_ONCE, Client, SERVERS, Wire, openings, plain, until, wrap } from "./world.mjs";

let browser;
before(async () => {
  browser = await browse();
});
after(() => browser?.close());

/** A wrapped server, and the addresses that its person's browser is asked to open. */
async function opening(server) {
  const { command } = await wrap(server, "--hold", "never");
  return { command: command.filter((flag) => flag !== "--no-open"), ...(await openings()) };
}

const asks = (page, message) => page.getByRole("dialog").getByText(message).waitFor();
const submit = (page) => page.getByRole("button", { name: "Submit" }).click();

describe("the page", { concurrency: AT_ONCE }, () => {
  test("a person answers for a client that cannot ask", async () => {
    const { command, env, opened } = await opening(SERVERS["sdk-1"]);
    const client = new Client("sdk-1", { command, declare: "nothing", steps: [{ tool: "form" }, { tool: "confirm" }] }, env);
    const page = await tab(browser, await until(async () => (await opened())[0], "the browser is opened"));

    await asks(page, "Which table?");
    await page.getByLabel("Name").fill("Ana");
    await page.getByLabel("guests").fill("40");
    await submit(page);
    await page.locator("[aria-invalid=true]").waitFor(); // twelve at most
    await page.getByLabel("guests").fill("4");
    await submit(page);
    const [brought] = await client.brought();
    assert.deepEqual(brought.content, { name: "Ana", guests: 4 });
    assert.deepEqual(brought._meta["dev.midcall/outcome"].by, { route: "page", human: true });

    await asks(page, "Delete 3 files?");
    await page.getByRole("button", { name: "Decline", exact: true }).click();
    assert.equal((await client.brought())[0].action, "decline");
    await client.done();
    assert.equal((await opened()).length, 1, "a page that is open is used again");
  });

  test("it is closed in mid-question, and opened again by the next one", async () => {
    const { command, env, opened } = await opening(plain());
    const wire = new Wire(command, { env });
    await wire.open();
    const ask = () => wire.call("tools/call", { name: "ask", arguments: {} });
    const first = ask();
    const address = await until(async () => (await opened())[0], "the browser is opened");
    let page = await tab(browser, address);
    await asks(page, "Question q0");
    await page.context().close();

    let asked = 0; // the gateway notices when it says something, so it may take more than one
    const later = [];
    await until(async () => {
      if (asked++ % 10 === 0) later.push(ask());
      return (await opened())[1];
    }, "the browser is opened again");
    page = await tab(browser, (await opened())[1]);
    for (let n = 0; n <= later.length; n++) {
      await asks(page, `Question q${n}`);
      await page.getByLabel("word").fill(`${n}`);
      await submit(page);
    }
    const words = (await Promise.all([first, ...later])).map(({ result }) => JSON.parse(result.content[0].text)[0].result.content.word);
    assert.deepEqual(words, words.map((_, n) => `${n}`));
  });
});
