// Who meets whom: the peers of each revision.
import { join } from "node:path";
import { CLIENTS, HTTP_SERVERS, MODERN_CLIENTS, MODERN_SERVERS, SERVERS } from "../peers/world.mjs";

export const NONE = "no elicitation";
export const JUNE = "2025-06-18";
export const NOVEMBER = "2025-11-25";
export const JULY = "2026-07-28";

/** Rust's own, which `./test grid` builds. */
const rust = (file, ...how) => [join(import.meta.dirname, "../../target/debug", file), ...how];
const commands = {
  clients: { ...CLIENTS, ...MODERN_CLIENTS, rmcp: rust("rmcp-client", "legacy"), "rmcp-modern": rust("rmcp-client", "modern") },
  servers: { ...SERVERS, ...MODERN_SERVERS, rmcp: rust("rmcp-server", "await"), "rmcp-rounds": rust("rmcp-server", "rounds") },
  byHttp: { ...HTTP_SERVERS, rmcp: rust("rmcp-server", "await", "http"), "rmcp-rounds": rust("rmcp-server", "rounds", "http") },
};

const client = (sdk, revision, declare, wire = revision) => ({ sdk, revision, declare, wire, command: commands.clients[sdk] });
const server = (sdk, revision) => ({ sdk, revision, command: commands.servers[sdk], byHttp: commands.byHttp[sdk] });

/** `wire` is the revision that a client speaks, whatever it declares. */
const clients = [
  client("sdk-1", NONE, "nothing", NOVEMBER),
  client("sdk-2", NONE, "nothing", JULY),
  client("python-modern", NONE, "nothing", JULY),
  client("sdk-1.20", JUNE, "{}"),
  client("sdk-1", NOVEMBER, "form+url"),
  client("python", NOVEMBER, "form+url"),
  client("fastmcp", NOVEMBER, "form+url"),
  client("rmcp", NOVEMBER, "form+url"),
  client("sdk-2", JULY, "form+url"),
  client("sdk-2-auto", JULY, "form+url"),
  client("python-modern", JULY, "form+url"),
  client("fastmcp-modern", JULY, "form+url"),
  client("rmcp-modern", JULY, "form+url"),
];

const servers = {
  "sdk-1.20": server("sdk-1.20", JUNE),
  "sdk-1": server("sdk-1", NOVEMBER),
  python: server("python", NOVEMBER),
  fastmcp: server("fastmcp", NOVEMBER),
  rmcp: server("rmcp", NOVEMBER),
  "sdk-2": server("sdk-2", JULY),
  "sdk-2-dual": server("sdk-2-dual", JULY),
  "python-rounds": server("python-rounds", JULY),
  "fastmcp-rounds": server("fastmcp-rounds", JULY),
  "rmcp-rounds": server("rmcp-rounds", JULY),
};

/** The servers that each client meets, in the order of `clients`: all of them with TypeScript's, and each with each revision. */
const MEETS = [
  ["sdk-1.20", "sdk-1", "python", "fastmcp", "rmcp", "sdk-2", "sdk-2-dual", "python-rounds", "fastmcp-rounds", "rmcp-rounds"],
  ["sdk-1.20", "sdk-1", "fastmcp", "rmcp", "sdk-2", "python-rounds"],
  ["sdk-1", "python", "fastmcp-rounds"],
  ["sdk-1.20", "sdk-1", "python", "sdk-2", "fastmcp-rounds"],
  ["sdk-1.20", "sdk-1", "fastmcp", "rmcp", "sdk-2", "sdk-2-dual", "python-rounds", "rmcp-rounds"],
  ["sdk-1.20", "python", "sdk-2", "python-rounds"],
  ["sdk-1", "fastmcp-rounds"],
  ["sdk-1.20", "sdk-1", "rmcp", "sdk-2", "rmcp-rounds"],
  ["sdk-1.20", "sdk-1", "python", "fastmcp", "rmcp", "sdk-2", "python-rounds", "rmcp-rounds"],
  ["sdk-1", "sdk-2-dual"],
  ["sdk-1.20", "sdk-1", "sdk-2", "python-rounds"],
  ["fastmcp", "fastmcp-rounds"],
  ["sdk-1.20", "sdk-1", "rmcp", "sdk-2", "rmcp-rounds"],
];

/** The same where one of the two or both are reached by HTTP: fewer, and each revision with each. */
const MEETS_BY_HTTP = [
  ["sdk-1.20", "sdk-1", "rmcp-rounds"],
  ["sdk-1.20", "fastmcp", "sdk-2"],
  ["rmcp"],
  ["sdk-1.20", "sdk-1", "sdk-2"],
  ["sdk-1.20", "sdk-1", "sdk-2-dual", "python-rounds"],
  ["python", "sdk-2"],
  ["fastmcp-rounds"],
  ["rmcp", "rmcp-rounds"],
  ["sdk-1.20", "sdk-1", "rmcp", "sdk-2", "python-rounds"],
  ["python", "sdk-2-dual"],
  ["sdk-1", "python-rounds"],
  ["fastmcp", "fastmcp-rounds"],
  ["sdk-1", "rmcp-rounds"],
];

/** How the client reaches the gateway, and how that reaches the server. */
export const TRANSPORTS = ["stdio-stdio", "http-stdio", "stdio-http", "http-http"];

/** Every pair over every transport. */
export const PAIRS = TRANSPORTS.flatMap((transport) => {
  const meets = transport === "stdio-stdio" ? MEETS : MEETS_BY_HTTP;
  return clients.flatMap((client, place) => meets[place].map((name) => ({ client, server: servers[name], transport })));
});

/**
 * Who meets whom unless all are wanted, by the revision of the client: over each transport, each two revisions in a
 * pair that can play every story; each peer at least once; and modern clients with Python's servers, which speak their
 * era and ask in the other. Python's take longest to start.
 */
const USUAL = {
  "stdio-stdio": {
    [NONE]: ["sdk-1/sdk-1.20", "sdk-2/sdk-1", "sdk-1/rmcp-rounds"],
    [JUNE]: ["sdk-1.20/sdk-1.20", "sdk-1.20/sdk-1", "sdk-1.20/sdk-2"],
    [NOVEMBER]: ["rmcp/sdk-1.20", "python/python", "sdk-1/python-rounds"],
    [JULY]: ["rmcp-modern/sdk-1.20", "python-modern/sdk-1", "sdk-2/fastmcp", "sdk-2-auto/sdk-2-dual"],
  },
  "http-stdio": {
    [NONE]: ["sdk-2/sdk-1.20", "sdk-1/sdk-1", "sdk-2/sdk-2"],
    [JUNE]: ["sdk-1.20/sdk-1.20", "sdk-1.20/sdk-1", "sdk-1.20/sdk-2"],
    [NOVEMBER]: ["sdk-1/sdk-1.20", "rmcp/rmcp", "rmcp/rmcp-rounds"],
    [JULY]: ["sdk-2/sdk-1.20", "sdk-2/rmcp", "rmcp-modern/rmcp-rounds"],
  },
  "stdio-http": {
    [NONE]: ["sdk-1/sdk-1.20", "python-modern/rmcp", "sdk-2/sdk-2"],
    [JUNE]: ["sdk-1.20/sdk-1.20", "sdk-1.20/sdk-1", "sdk-1.20/sdk-2"],
    [NOVEMBER]: ["sdk-1/sdk-1.20", "sdk-1/sdk-1", "fastmcp/fastmcp-rounds"],
    [JULY]: ["sdk-2/sdk-1.20", "sdk-2/sdk-1", "fastmcp-modern/fastmcp-rounds"],
  },
  "http-http": {
    [NONE]: ["sdk-2/sdk-1.20", "sdk-1/sdk-1", "sdk-1/rmcp-rounds"],
    [JUNE]: ["sdk-1.20/sdk-1.20", "sdk-1.20/sdk-1", "sdk-1.20/sdk-2"],
    [NOVEMBER]: ["sdk-1/sdk-1.20", "rmcp/rmcp", "rmcp/rmcp-rounds"],
    [JULY]: ["sdk-2/sdk-1.20", "sdk-2/sdk-1", "sdk-2-auto/python", "sdk-2/sdk-2"],
  },
};
export const peers = ({ client, server }) => `${client.sdk}/${server.sdk}`;
export const isUsual = (pair) => USUAL[pair.transport][pair.client.revision].includes(peers(pair));
export const REVISIONS = { clients: [NONE, JUNE, NOVEMBER, JULY], servers: [JUNE, NOVEMBER, JULY] };
export const isModern = (revision) => revision === JULY;
