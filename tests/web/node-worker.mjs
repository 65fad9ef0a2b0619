/**
 * The browser's `Worker` for tests in Node: a real thread that runs the real worker file.
 *
 * Imported by a test it defines `Worker`; started as a thread it defines what a worker's global
 * scope has, then runs the file it is given.
 */
import { Worker as Thread, isMainThread, parentPort, workerData } from "node:worker_threads";

if (isMainThread) {
  globalThis.Worker = class {
    #thread;
    onmessage = () => {};
    onerror = () => {};

    constructor(url) {
      this.#thread = new Thread(new URL(import.meta.url), { workerData: String(url) });
      this.#thread.on("message", (data) => this.onmessage({ data }));
      this.#thread.on("error", () => this.onerror());
      this.#thread.unref(); // after its listeners, which hold on to it
    }
    postMessage(message) {
      this.#thread.postMessage(message);
    }
    terminate() {
      this.#thread.terminate();
    }
  };
} else {
  globalThis.postMessage = (message) => parentPort.postMessage(message);
  parentPort.on("message", (data) => globalThis.onmessage({ data }));
  await import(workerData);
}
