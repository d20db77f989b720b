import { readMessages, send, sendStderr, useToken, type HostMessage } from "./channel.ts";
import { deno, onUncaught, pendingWork } from "./deno.ts";
import { patchFileFunctions } from "./file-view.ts";
import { hardenRoots } from "./harden.ts";
import { encodeThrown } from "./guest-errors.ts";
import { Modules, type ImportRequest, type ModuleSettings } from "./modules.ts";
import { onLastingChange, resetProcess } from "./node-modules.ts";
import { redirectStderr } from "./output.ts";
import { toHostPath, usePaths } from "./paths.ts";
import { parseJson, promiseThen, quote, startsWith } from "./primordials.ts";
import { loadProgram, type Main } from "./program.ts";
import { createRealm, type Realm } from "./realm.ts";

type Run = Extract<HostMessage, { type: "run" }>;
type Init = Extract<HostMessage, { type: "init" }>;

const WARM_UP = "export default async function (value: unknown) { return [typeof value]; }";
const WORKSPACE = "/workspace";
const RESULT = '{"type":"result"';

/** Taken before any program runs. */
const later = setImmediate;

let version = "";
/** Whether the guest serves more than one run. */
let isReused = false;
let moduleSettings: ModuleSettings = { hostTools: {}, hidden: [] };
/** The realm of the current run, or of the next one. */
let realm: Realm | undefined;
let ended = true;
let nextCallId = 1;

function sayReady(): void {
  send(`{"type":"ready","version":${quote(version)}}`);
}

/** Makes the realm of the next run. */
function prepare(): void {
  realm = createRealm({ importModules, reportUncaught: fail });
}

function importModules(own: Realm, requests: unknown): Promise<unknown[]> {
  const modules = (own.modules ??= new Modules(own, moduleSettings));
  return modules.importAll(requests as ImportRequest[]);
}

/** Prepares the next run, once nothing of this one is left. A guest in which something stays exits. */
function recover(): void {
  if (realm?.isSpent === true || pendingWork.isLeft()) deno.exit(0);
  resetRuntime();
  prepare();
  sayReady();
}

/** Undoes what a program may have changed in the runtime itself. */
function resetRuntime(): void {
  resetProcess();
  deno.chdir(toHostPath(WORKSPACE));
  performance.clearMarks();
  performance.clearMeasures();
}

function end(own: Realm, message: string): void {
  if (ended || own !== realm) return;
  ended = true;
  nextCallId = own.inside.nextCallId();
  own.end();
  send(message);
  // After what the program has left in the queue of microtasks.
  if (isReused) later(recover);
}

function fail(own: Realm | undefined, thrown: unknown, kind: "syntax" | "exception" = "exception"): void {
  if (own === undefined || ended || own !== realm) return;
  if (own.inside.isTooLarge(thrown)) {
    send(`{"type":"limit","limit":"payload","message":${quote(thrown.message)}}`);
    return;
  }
  end(own, `{"type":"failed","kind":"${kind}","error":${encodeThrown(thrown)}}`);
}

async function run({ source, calls, callsInFlight, payloadBytes }: Run): Promise<void> {
  if (realm === undefined || !ended) prepare();
  const own = realm as Realm;
  ended = false;
  own.inside.begin({ calls, callsInFlight, payloadBytes }, nextCallId);
  let main: Main;
  try {
    main = await loadProgram(own, source);
  } catch (error) {
    fail(own, error, "syntax");
    return;
  }
  void promiseThen(
    own.inside.run(main),
    (json) => end(own, json === undefined ? `{"type":"done"}` : `{"type":"done","value":${json}}`),
    (error) => fail(own, error),
  );
}

async function start({ token, paths, reuse = false, hostTools = {}, hidden = [] }: Init): Promise<void> {
  useToken(token);
  moduleSettings = { hostTools, hidden };
  if (paths !== undefined) {
    usePaths(paths);
    patchFileFunctions();
  }
  redirectStderr();
  hardenRoots();
  onUncaught((thrown) => fail(realm, thrown));
  onLastingChange(() => realm?.spend());
  prepare();
  const first = realm as unknown as Realm;
  first.inside.begin({ calls: 0, callsInFlight: 1, payloadBytes: 1024 }, nextCallId);
  await first.inside.run(await loadProgram(first, WARM_UP));
  prepare();
  delete deno[deno.internal];
  version = deno.version.deno;
  if (reuse) pendingWork.observe();
  isReused = reuse;
  sayReady();
}

function receive(line: string): void {
  // A result's value is one of the program's realm.
  if (startsWith(line, RESULT)) return realm?.inside.settle(line);
  const message = parseJson(line) as HostMessage;
  if (message.type === "run") void run(message);
  else if (message.type === "ping") sayReady();
  else void start(message).catch(giveUp);
}

/** Ends a guest that can't start. The host shows why. */
function giveUp(error: unknown): void {
  sendStderr(`${(error as Error).stack}\n`);
  deno.exit(1);
}

// The host has closed the channel.
void readMessages(receive).finally(() => deno.exit(0));
