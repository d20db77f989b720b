import {
  callTool,
  hostTool,
  payloadLimit,
  endByLimit,
  setCallLimits,
  settleCall,
  ToolError,
} from "./calls.ts";
import { readMessages, send, useToken, type HostMessage } from "./channel.ts";
import {
  getPrompt,
  listPrompts,
  listResources,
  listResourceTemplates,
  readResource,
} from "./client-functions.ts";
import { deno, onUncaught } from "./deno.ts";
import { patchFileFunctions, patchNodeFunctions } from "./file-view.ts";
import { evaluateProgram, type Main } from "./evaluate.ts";
import { encodeThrown } from "./guest-errors.ts";
import { encodeJson, TooLargeError } from "./json-value.ts";
import { importAll, importSource, type ImportRequest } from "./loader.ts";
import { redirectOutput } from "./output.ts";
import { toHostPath, usePaths } from "./paths.ts";
import { protectCall, quote } from "./primordials.ts";
import { beginReusedRun, isPristine, prepareForReuse } from "./reuse.ts";

export { getPrompt, listPrompts, listResources, listResourceTemplates, readResource };
// `hostTool` is for the generated modules of host tools; the last two are for the shims of Node's modules, where the guest
// has no file system view of its own.
export { callTool, ToolError, hostTool, patchNodeFunctions, toHostPath };

type Run = Extract<HostMessage, { type: "run" }>;
type Init = Extract<HostMessage, { type: "init" }>;

const WARM_UP =
  "enum Warm { Up = 1 }\nexport default async function (value: unknown) { return [value, Warm.Up]; }";

let ended = false;
let version = "";
/** The current run; messages of earlier runs are ignored. */
let current = 0;
/** Whether the guest serves more than one run. */
let isReused = false;

function sayReady(): void {
  send(`{"type":"ready","version":${quote(version)}}`);
}

/** Answers the host's health check. A guest that differs from its state before its first run exits. */
function answerPing(): void {
  if (isReused && !isPristine()) deno.exit(0);
  sayReady();
}

function end(message: string): void {
  ended = true;
  send(message);
}

function fail(kind: "syntax" | "exception", thrown: unknown, run = current): void {
  if (ended || run !== current) return;
  end(`{"type":"failed","kind":"${kind}","error":${encodeThrown(thrown)}}`);
}

function complete(value: unknown, run: number): void {
  if (ended || run !== current) return;
  let json: string | undefined;
  try {
    json = encodeJson(value, "The program's value", payloadLimit());
  } catch (error) {
    if (error instanceof TooLargeError) void endByLimit("payload", error.message);
    else fail("exception", error);
    return;
  }
  end(json === undefined ? `{"type":"done"}` : `{"type":"done","value":${json}}`);
}

async function importProgram(source: string): Promise<Main> {
  return (await importSource(source, "application/typescript"))["default"] as Main;
}

async function run(message: Run): Promise<void> {
  current += 1;
  const own = current;
  ended = false;
  if (isReused) beginReusedRun();
  setCallLimits(message);
  let main: Main;
  try {
    main = evaluateProgram(message.source) ?? (await importProgram(message.source));
  } catch (error) {
    fail("syntax", error, own);
    return;
  }
  const runtime = {
    import: (requests: ImportRequest[]) => importAll(requests),
    load: async (specifier: unknown, options?: { with?: Record<string, string> }) => {
      const request = { specifier: String(specifier), attributes: options?.with ?? {}, names: [] };
      return (await importAll([request]))[0];
    },
    meta: {
      url: "file:///workspace/program.ts",
      filename: "/workspace/program.ts",
      dirname: "/workspace",
      main: true,
    },
    default: undefined as unknown,
  };
  try {
    const returned = await main(runtime);
    let value = returned === undefined ? await runtime.default : returned;
    if (typeof value === "function" && returned === undefined) value = await (value as () => unknown)();
    complete(value, own);
  } catch (error) {
    fail("exception", error, own);
  }
}

async function start({ token, paths, reuse = false }: Init): Promise<void> {
  useToken(token);
  if (paths !== undefined) {
    usePaths(paths);
    patchFileFunctions();
  }
  protectCall();
  redirectOutput();
  onUncaught((thrown) => fail("exception", thrown));
  await (
    await importProgram(WARM_UP)
  )({});
  delete deno[deno.internal];
  version = deno.version.deno;
  if (reuse) await prepareForReuse(import.meta.url);
  isReused = reuse;
  sayReady();
}

function receive(message: HostMessage): void {
  if (message.type === "result") settleCall(message);
  else if (message.type === "run") void run(message);
  else if (message.type === "ping") answerPing();
  else void start(message);
}

// The host has closed the channel.
void readMessages(receive).finally(() => deno.exit(0));
