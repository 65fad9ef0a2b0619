// Requests by hand, on sockets of their own: their bytes may be anything.
import { once } from "node:events";
import { connect } from "node:net";
import { within } from "./world.mjs";

const sockets = [];

/** A connection to a port of this machine. */
export async function socket(port) {
  const one = connect(port, "127.0.0.1");
  sockets.push(one);
  one.on("error", () => {}); // it may be closed on us
  await once(one, "connect");
  return one;
}

/** Sends bytes and gives all that comes back until the other side closes. */
export async function raw(port, bytes) {
  const one = await socket(port);
  let said = "";
  one.setEncoding("latin1").on("data", (text) => (said += text));
  one.write(bytes);
  await within(once(one, "close"), `the end of ${bytes.slice(0, 200)}`);
  return said;
}

/** Closes every connection that is still open. */
export const hangUp = () => sockets.splice(0).forEach((socket) => socket.destroy());

/** The statuses of all responses in what came back. */
export const statuses = (said) => [...said.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));
