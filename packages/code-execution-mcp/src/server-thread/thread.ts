import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";

// The entry of the thread that a server runs in, apart from the front that listens for its clients.
const { options, socketPath, compileCache } = workerData as ThreadData;
if (compileCache !== undefined) enableCompileCache(compileCache);

const [{ CemError, toErrorInfo }, { loadCustomTools }, { runServer }] = await Promise.all([
  import("@cem/core"),
  import("../custom-tool-file.ts"),
  import("../create-server.ts"),
]);
const send = (message: FromThread): void => parentPort?.postMessage(message, []);
const bound = Promise.withResolvers<number>();
let close: ((graceMs?: number) => Promise<void>) | undefined;
let closeEarly: { graceMs: number | undefined } | undefined;

parentPort?.on("message", (message: ToThread) => {
  switch (message.type) {
    case "ping":
      return send({ type: "pong" });
    case "listening":
      return bound.resolve(message.port);
    case "listen-failed": {
      const { code, message: text, details } = message.error;
      return bound.reject(new CemError(code, text, { details }));
    }
    case "close":
      if (close === undefined) closeEarly = message;
      else void close(message.graceMs);
      return undefined;
  }
});

try {
  const { customToolFile, ...serverOptions } = options;
  const running = await runServer({
    ...serverOptions,
    customTools:
      customToolFile === undefined ? undefined : await loadCustomTools(customToolFile, options.cwd),
    forwarder: {
      socketPath,
      listen: (host, port, trustedProxies) => {
        send({ type: "listen", host, port, trustedProxies });
        return bound.promise;
      },
      close: async () => send({ type: "stop-listening" }),
    },
  });
  close = (graceMs) => running.close(graceMs);
  send({ type: "serving", url: running.url ?? "" });
  if (closeEarly !== undefined) void close(closeEarly.graceMs);
  await running.closed;
  await running.close();
  send({ type: "closed" });
} catch (error) {
  send({ type: "failed", error: toErrorInfo(error) });
}
