import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { toErrorInfo } from "@cem/core";
import type { ThreadRequest, ThreadResponse } from "./work-threads.ts";

// The entry point of a work thread, which executes requests one after another.

const { compileCache } = workerData as { compileCache: string | undefined };
if (compileCache !== undefined) enableCompileCache(compileCache);

type Exports = Record<string, (...args: readonly unknown[]) => unknown>;

async function answer({ module, name, args }: ThreadRequest): Promise<ThreadResponse> {
  try {
    const exported = (await import(module)) as Exports;
    return { result: await exported[name]?.(...args) };
  } catch (error) {
    return { error: toErrorInfo(error) };
  }
}

async function take(request: ThreadRequest): Promise<void> {
  const response = await answer(request);
  const { transfer = [] } = ("result" in response ? Object(response.result) : {}) as {
    transfer?: ArrayBuffer[];
  };
  parentPort?.postMessage(response, transfer);
}

parentPort?.on("message", (request: ThreadRequest) => void take(request));
