// TypeScript's 2.x client starts its command twice: once to see who is there, once to stay. Nobody notices.
import assert from "node:assert/strict";
import { chmod, readFile, readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { STEPS } from "../peers/jobs.mjs";
import { AT_ONCE, BINARY, Client, MODERN_SERVERS, SERVERS, alive, folder as newFolder, openings, until } from "../peers/world.mjs";

const folder = newFolder();

const lines = (file) => readFile(file, "utf8").then((text) => text.trim().split("\n"), () => []);

/** A script that writes its process id into a file and becomes its arguments. */
async function script(name) {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\necho $$ >>'${file}.told'\nexec "$@"\n`);
  await chmod(file, 0o755);
  return { command: file, told: () => lines(`${file}.told`) };
}

/** Whether a process listens on some port: it has a page then. */
async function listens(pid) {
  const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const sockets = new Set(await Promise.all(open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => ""))));
  const table = (await Promise.all(["tcp", "tcp6"].map((name) => lines(`/proc/net/${name}`)))).flat();
  return table.map((row) => row.trim().split(/\s+/)).some(([, , , state, , , , , , inode]) => state === "0A" && sockets.has(`socket:[${inode}]`));
}

const gone = (pids) => until(async () => !(await Promise.all(pids.map(alive))).some(Boolean), `the end of ${pids}`);

describe("a client that starts its command twice", { concurrency: AT_ONCE }, () => {
  for (const client of ["sdk-2", "sdk-2-auto"]) {
    for (const [name, server] of [["sdk-1", SERVERS["sdk-1"]], ["sdk-2", MODERN_SERVERS["sdk-2"]], ["python", SERVERS.python]]) {
      test(`${client} and ${name}`, async () => {
        const of = (what) => `${client}-${name}-${what}`;
        const gateway = await script(of("gateway"));
        const behind = await script(of("server"));
        const { env, opened } = await openings();
        const command = [gateway.command, BINARY, "wrap", "--", behind.command, ...server];
        const running = new Client(client, { command, declare: "form+url" }, env);
        await running.tells("tools");

        const gateways = await gateway.told();
        assert.equal(gateways.length, 2, "it started the command twice");
        await gone(gateways.slice(0, 1));
        assert.ok(await alive(gateways[1]));
        const first = (await behind.told()).slice(0, -1);
        await gone(first);

        if (name !== "python") {
          running.send({ call: "1", ...STEPS.accept });
          assert.equal((await running.brought())[0].action, "accept");
        }
        assert.equal(await listens(gateways[1]), false, "it has no page");
        running.process.stdin.end();
        await running.done();
        await gone([...gateways, ...(await behind.told())]);
        assert.deepEqual(await opened(), [], "no browser was opened");
      });
    }
  }
});
