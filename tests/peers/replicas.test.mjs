// Processes of one server behind a balancer, with modern clients of every SDK. They have their keys in common and nothing else: the
// example `replicas` of `midcall-server`.
import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { AT_ONCE, Client, Process } from "./world.mjs";

const FOLDER = process.env.MIDCALL_EXAMPLES ?? join(import.meta.dirname, "../../target/debug/examples");
const KEYS = "00112233445566778899aabbccddeeff".repeat(2);

const ANSWERS = [
  { message: "In whose name?", content: { value: "Ana" } },
  { message: "Where to, Ana?", content: { selected: "Porto" } },
  { message: "Book Porto?", content: { confirmed: true } },
];

const balancers = [];
after(() => balancers.forEach(({ server }) => (server.close(), server.closeAllConnections())));

/** Gives each call and each retry to the next of two processes. */
class Balancer {
  constructor(resume) {
    this.resume = resume;
    this.turn = 0;
    this.had = []; // the process of each call and retry
    this.server = createServer((incoming, response) => this.#hand(incoming, response));
    balancers.push(this);
  }

  async start() {
    await this.renew();
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}/mcp`;
    return this;
  }

  /** Two fresh processes; those before end as nobody expects. */
  async renew() {
    const old = this.replicas ?? [];
    const fresh = [0, 1].map(() => new Process([join(FOLDER, "replicas"), "127.0.0.1:0", this.resume], { env: { ASKS_KEYS: KEYS } }));
    const told = fresh.map((replica) => replica.told.next(({ unreadable }) => unreadable));
    (await Promise.all(told)).forEach(({ unreadable }, at) => (fresh[at].port = Number(unreadable.split(":").at(-1))));
    this.replicas = fresh;
    old.forEach(({ process }) => process.kill("SIGKILL"));
    await Promise.all(old.map((replica) => replica.end()));
  }

  async #hand(incoming, response) {
    const chunks = await Array.fromAsync(incoming);
    const body = Buffer.concat(chunks);
    const replica = this.replicas[this.turn % 2];
    if (body.includes('"tools/call"')) {
      this.turn++;
      this.had.push(replica.pid);
    }
    const { method, url, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port: replica.port, method, path: url, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  }
}

for (const resume of ["park-then-replay", "replay-only"]) {
  describe(`replicas that share their keys alone, ${resume}`, { concurrency: AT_ONCE }, () => {
    for (const sdk of ["sdk-2", "python-modern", "rmcp-modern"]) {
      test(`${sdk}: each round lands on a process that never saw the call`, async () => {
        const balancer = await new Balancer(resume).start();
        const client = new Client(sdk, { url: balancer.url, declare: "form+url" });
        client.send({ call: "booking", tool: "book" });
        for (const { message, content } of ANSWERS) {
          const { params } = await client.tells("asked");
          assert.equal(params.message, message);
          await balancer.renew();
          client.gives({ message, action: "accept", content });
        }
        const { content } = await client.tells("result");
        assert.equal(content[0].text, `Ana goes to Porto, booked by ${balancer.had.at(-1)}`);
        assert.equal(new Set(balancer.had).size, 4, `${balancer.had}`);
        client.process.stdin.end();
        await client.done();
      });
    }
  });
}

test("where calls are parked only, sdk-2 hears plainly that its call is over", async () => {
  const balancer = await new Balancer("park-only").start();
  const steps = [{ tool: "book", answers: [{ ...ANSWERS[0], action: "accept" }] }];
  const client = new Client("sdk-2", { url: balancer.url, declare: "form+url", steps });
  const { isError, content } = await client.tells("result");
  assert.equal(isError, true);
  assert.match(content[0].text, /^This call is over: .* or the server was started again\. Call again$/);
  await client.done();
});
