// A connection that is cut, silent or refused, and a page that comes back without a reload.
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { Desk, eventually, person, posts, shot, unhurried, wake, world } from "./world.mjs";

const WHO = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] } };

const dialog = (page) => page.getByRole("dialog");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });

/** A way to the desk that can be cut: an HTTP proxy, so that addresses stay what they are. */
async function way() {
  let up = true;
  const sockets = new Set();
  const proxy = http.createServer((request, response) => {
    if (!URL.canParse(request.url)) return response.destroy(); // some page that looks for whoever had this port before
    const onward = http.request(request.url, { method: request.method, headers: request.headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  proxy.on("connection", (socket) => {
    if (!up) return socket.destroy();
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    up = false;
    for (const socket of sockets) socket.destroy();
  };
  world.ending.push(() => {
    cut();
    proxy.close();
  });
  return { cut, mend: () => (up = true), options: { proxy: { server: `http://127.0.0.1:${proxy.address().port}`, bypass: "<-loopback>" } } };
}

const streams = (page) => page.requests.filter(({ path }) => path === "/elicitation/events");

test("a cut is seen, outlived and made good: nothing lost, nothing twice, no reload", async () => {
  const desk = await Desk.start();
  const line = await way();
  const page = await person(desk, line.options);
  await page.evaluate(() => (window.same = true));
  const before = await desk.ask({ ...WHO, message: "Before?" });
  const withdrawn = await desk.ask({ ...WHO, message: "Taken back?" });
  await dialog(page).getByText("1 of 2").waitFor();
  await dialog(page).getByLabel("Name").fill("half a na");
  line.cut();
  await page.getByText("Connection lost. Trying again…").waitFor();
  await shot(page, "connection-lost-dialog");
  desk.withdraw(withdrawn);
  await desk.ended(withdrawn);
  await desk.ask({ ...WHO, message: "Meanwhile?" });
  line.mend();
  await wake(page);
  await page.getByText("Connected", { exact: true }).waitFor();
  await dialog(page).getByText("1 of 2").waitFor();
  await page.getByText("The server no longer needs an answer").waitFor();
  assert.ok(streams(page).at(-1).headers["last-event-id"], "it goes on from where it was");
  assert.equal(await dialog(page).getByLabel("Name").inputValue(), "half a na");
  await button(page, "Submit").click();
  assert.equal((await desk.ended(before)).action, "accept");
  await dialog(page).getByText("Meanwhile?").waitFor();
  assert.equal(await page.evaluate(() => window.same), true, "the page was not loaded again");
});

test("an answer given while the connection is gone is kept, said to be unsent, and can be sent again", async () => {
  const desk = await Desk.start();
  const line = await way();
  const page = await person(desk, line.options);
  const id = await desk.ask(WHO);
  await dialog(page).getByLabel("Name").fill("Ana");
  line.cut();
  await page.getByText("Connection lost. Trying again…").waitFor();
  await button(page, "Submit").click();
  await dialog(page).getByText("This could not be sent").first().waitFor();
  await shot(page, "not-sent");
  assert.equal(await dialog(page).getByLabel("Name").inputValue(), "Ana");
  line.mend();
  await wake(page);
  await page.getByText("Connected", { exact: true }).waitFor();
  await button(page, "Submit").click();
  assert.equal((await desk.ended(id)).action, "accept");
  assert.equal((await posts(page, "accept")).length, 2);
});

test("it tries again at growing distances, and at once when told to", async () => {
  const desk = await Desk.start();
  const line = await way();
  const page = await unhurried(desk, line.options);
  const over = [];
  page.on("requestfailed", (request) => request.url().includes("/elicitation/events") && over.push(request));
  line.cut();
  await page.getByText("Connection lost. Trying again…").waitFor();
  await shot(page, "connection-lost");
  const tries = [];
  for (let second = 0; second < 40; second++) {
    await eventually("the last try has failed", () => over.length === streams(page).length);
    const now = streams(page).length;
    await page.clock.runFor(1_000);
    tries.push(streams(page).length - now);
  }
  const first = tries.slice(0, 10).reduce((sum, count) => sum + count, 0);
  const last = tries.slice(-10).reduce((sum, count) => sum + count, 0);
  assert.ok(first >= 3 && last <= 1, `${tries}`);
  line.mend();
  const now = streams(page).length;
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText("Connected", { exact: true }).waitFor();
  await page.getByText("Connected again").waitFor();
  assert.equal(streams(page).length, now + 1);
});

test("a gateway that hangs is noticed by its silence", async () => {
  const desk = await Desk.start();
  const page = await unhurried(desk);
  desk.process.kill("SIGSTOP");
  await page.clock.runFor(39_000);
  await page.getByText("Connected", { exact: true }).waitFor();
  await page.clock.runFor(41_000); // what was on its way when it stopped counts as a word too
  await page.getByText("Connection lost. Trying again…").waitFor();
  desk.process.kill("SIGCONT");
  const id = await desk.ask(WHO);
  await page.clock.runFor(20_000);
  await dialog(page).getByText("Who?").waitFor();
  desk.withdraw(id);
  await dialog(page).waitFor({ state: "hidden" });
});

test("a busy gateway is waited for", async () => {
  const desk = await Desk.start("--streams", "1");
  const first = await person(desk);
  await first.getByText("Connected", { exact: true }).waitFor();
  const page = await person(desk.announced.page);
  const bearer = await first.evaluate(() => sessionStorage.getItem("midcall.bearer"));
  await page.evaluate((bearer) => sessionStorage.setItem("midcall.bearer", bearer), bearer);
  await page.reload();
  await page.getByText("Connection lost. Trying again…").waitFor();
  await first.close();
  await wake(page);
  await page.getByText("Connected", { exact: true }).waitFor();
  await eventually("it says so", () => page.getByText("No questions right now").isVisible());
});
