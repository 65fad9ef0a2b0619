// What Node's own HTTP brings, for a handler that wants it as the web has it.
import { createServer } from "node:http";
import { Readable } from "node:stream";

/** Listens, and tells where: {url}. */
export function listen(fetch) {
  const http = createServer(async (request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const body = request.method === "POST" ? { body: Readable.toWeb(request), duplex: "half" } : {};
    const url = `http://${request.headers.host}${request.url}`;
    const answer = await fetch(new Request(url, { method: request.method, headers: request.headers, signal: gone.signal, ...body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (!answer.body) return response.end();
    Readable.fromWeb(answer.body).on("error", () => response.destroy()).pipe(response);
  });
  http.keepAliveTimeout = 0; // else a server that stood still closes connections that are in use
  const port = Number(process.env.MIDCALL_PEER_PORT ?? 0);
  http.listen(port, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` })));
}
