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
import { encodeThrown } from "./guest-errors.ts";
import { encodeJson, TooLargeError } from "./json-value.ts";
import { importAll, importSource, type ImportRequest } from "./loader.ts";
import { redirectOutput } from "./output.ts";
import { toHostPath, usePaths } from "./paths.ts";
import { protectCall, quote } from "./primordials.ts";

export { getPrompt, listPrompts, listResources, listResourceTemplates, readResource };
// `hostTool` is for the modules of host tools; the last two are for the stand-ins of Node's modules, where the guest has
// no view of its own.
export { callTool, ToolError, hostTool, patchNodeFunctions, toHostPath };

type Run = Extract<HostMessage, { type: "run" }>;
type Main = (runtime: object) => Promise<unknown>;

const WARM_UP =
  "enum Warm { Up = 1 }\nexport default async function (value: unknown) { return [value, Warm.Up]; }";

let ended = false;

function fail(kind: "syntax" | "exception", thrown: unknown): void {
  if (ended) return;
  ended = true;
  send(`{"type":"failed","kind":"${kind}","error":${encodeThrown(thrown)}}`);
}

function complete(value: unknown): void {
  if (ended) return;
  let json: string | undefined;
  try {
    json = encodeJson(value, "The program's value", payloadLimit());
  } catch (error) {
    if (error instanceof TooLargeError) void endByLimit("payload", error.message);
    else fail("exception", error);
    return;
  }
  ended = true;
  send(json === undefined ? `{"type":"done"}` : `{"type":"done","value":${json}}`);
}

async function run(message: Run): Promise<void> {
  setCallLimits(message);
  let main: Main;
  try {
    const module = await importSource(message.source, "application/typescript");
    main = module["default"] as Main;
  } catch (error) {
    fail("syntax", error);
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
    complete(value);
  } catch (error) {
    fail("exception", error);
  }
}

async function start(token: string, paths: Record<string, string> | undefined): Promise<void> {
  useToken(token);
  if (paths !== undefined) {
    usePaths(paths);
    patchFileFunctions();
  }
  protectCall();
  redirectOutput();
  onUncaught((thrown) => fail("exception", thrown));
  const warm = await importSource(WARM_UP, "application/typescript");
  await (warm["default"] as Main)({});
  delete deno[deno.internal];
  send(`{"type":"ready","version":${quote(deno.version.deno)}}`);
}

function receive(message: HostMessage): void {
  if (message.type === "result") settleCall(message);
  else if (message.type === "run") void run(message);
  else void start(message.token, message.paths);
}

// Without its host the guest has nothing to live for.
void readMessages(receive).finally(() => deno.exit(0));
