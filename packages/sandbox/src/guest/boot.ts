import { readMessages, send, sendStderr, useToken, type HostMessage } from "./channel.ts";
import { deno, onUncaught, pendingWork } from "./deno.ts";
import { patchFileFunctions } from "./file-view.ts";
import { hideHost } from "./host-names.ts";
import { hardenLanguage } from "./harden.ts";
import { clearLeftovers, trackObjectUrls } from "./leftovers.ts";
import { noteFiniteWork } from "./finite-work.ts";
import { encodeThrown } from "./guest-errors.ts";
import { Modules, type ImportRequest, type ModuleSettings } from "./modules.ts";
import { isFileOpen } from "./open-files.ts";
import { redirectStderr } from "./output.ts";
import { usePaths } from "./paths.ts";
import { parseJson, quote, startsWith } from "./primordials.ts";
import { loadProgram, type Main } from "./program.ts";
import { createRealm, type Realm } from "./realm.ts";
import { isWaitedFor, listUnawaited } from "./unawaited.ts";

type Run = Extract<HostMessage, { type: "run" }>;
type Init = Extract<HostMessage, { type: "init" }>;

const WARM_UP = "export default async function (value: unknown) { return [typeof value]; }";
const RESULT = '{"type":"result"';
const DONE = '{"type":"done"}';

/** Taken before any program runs. */
const later = setImmediate;

let version = "";
/** Whether the guest serves more than one run. */
let isReused = false;
let moduleSettings: ModuleSettings = { hostTools: {}, hidden: [], texts: {} };
/** The realm of the current run, or of the next one. */
let realm: Realm | undefined;
/** Its modules, once it asks for some. */
let modules: Modules | undefined;
let ended = true;
/** The message of a program that has returned, while the run goes on for what it did not await. */
let returned: string | undefined;
let isChecking = false;
let isWaiting = false;
let nextCallId = 1;

function sayReady(): void {
  send(`{"type":"ready","version":${quote(version)}}`);
}

/** Makes the realm of the next run. */
function prepare(): void {
  modules = undefined;
  realm = createRealm({ importModules, reportUncaught: fail, noteProgress });
}

async function importModules(own: Realm, requests: string): Promise<unknown[]> {
  if (own !== realm || ended) throw new Error("The run has ended.");
  modules ??= new Modules(own, moduleSettings);
  return modules.importAll(parseJson(requests) as ImportRequest[]);
}

/** Whether something of the run goes on, or could go on, in the runtime. */
function isWorkLeft(): boolean {
  if (realm?.isSpent === true || realm?.inside.isWaiting() === true) return true;
  return isFileOpen() || pendingWork.isLeft();
}

/** Readies the guest for its next run, once nothing of this one is left. A guest in which something stays exits. */
function recover(): void {
  if (isWorkLeft() || !clearLeftovers()) deno.exit(0);
  sayReady();
  // While the host is busy.
  prepare();
}

function complete(own: Realm, json: string | undefined): void {
  if (ended || own !== realm) return;
  returned = json === undefined ? DONE : `{"type":"done","value":${json}}`;
  isWaiting = false;
  noteProgress(own);
}

/** Looks, after all that follows at once, whether a program that has returned has work left. */
function noteProgress(own: Realm): void {
  if (returned === undefined || isChecking || own !== realm) return;
  isChecking = true;
  later(() => {
    isChecking = false;
    endOrWait(own);
  });
}

function endOrWait(own: Realm): void {
  if (returned === undefined || ended || own !== realm) return;
  const hasValue = returned !== DONE;
  const goesOn = isWaitedFor(own, hasValue);
  if (goesOn && isWaiting) return;
  isWaiting = goesOn;
  const { kept, stopped } = listUnawaited(own, hasValue);
  const told = goesOn ? kept : stopped;
  if (told.length > 0) tell(`{"type":"unawaited","isStopped":${!goesOn},"work":[${told.join(",")}]}`);
  if (!goesOn) end(own, returned);
}

function tell(message: string): void {
  try {
    send(message);
  } catch {
    // The program has closed the output.
    deno.exit(1);
  }
}

function end(own: Realm, message: string): void {
  if (ended || own !== realm) return;
  ended = true;
  returned = undefined;
  nextCallId = own.inside.nextCallId();
  own.end();
  tell(message);
  // After what the program has left in the queue of microtasks.
  if (isReused) later(recover);
}

function fail(own: Realm | undefined, thrown: unknown, kind: "syntax" | "exception" = "exception"): void {
  if (own === undefined || ended || own !== realm) return;
  if (own.inside.isTooLarge(thrown)) {
    send(`{"type":"limit","limit":"payload","message":${quote(thrown.message)}}`);
    return;
  }
  const error = encodeThrown(thrown, own.inside.readThrown(thrown));
  end(own, `{"type":"failed","kind":"${kind}","error":${error}}`);
}

/** Fails the run by an uncaught error, unless the error stems from a program of an earlier run. */
function failUncaught(thrown: unknown, promise: object | undefined): void {
  const source = promise ?? thrown;
  const isObject = typeof source === "object" && source !== null;
  if (!isObject || realm?.inside.isKnown(source) === true) fail(realm, thrown);
}

async function run({ source, calls, callsInFlight, payloadBytes, modules: texts = {} }: Run): Promise<void> {
  if (realm === undefined || !ended) prepare();
  moduleSettings = { ...moduleSettings, texts };
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
  own.inside.run(
    main,
    (json) => complete(own, json),
    (error) => fail(own, error),
  );
}

async function start({
  token,
  paths,
  hostPaths = {},
  moved,
  reuse = false,
  hostTools = {},
  hidden = [],
}: Init): Promise<void> {
  useToken(token);
  moduleSettings = { hostTools, hidden, texts: {} };
  if (paths !== undefined) {
    usePaths(paths, hostPaths);
    patchFileFunctions();
    hideHost();
  } else if (moved !== undefined) {
    usePaths(moved, guestFolders(moved));
    patchFileFunctions({ ownView: true });
  }
  noteFiniteWork();
  redirectStderr();
  trackObjectUrls();
  hardenLanguage();
  onUncaught(failUncaught);
  await warmUp();
  prepare();
  delete deno[deno.internal];
  version = deno.version.deno;
  if (reuse) pendingWork.observe();
  isReused = reuse;
  sayReady();
}

/** Guest folder by place. */
function guestFolders(moved: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(moved).map(([guest, place]) => [place, guest]));
}

/** Runs a program, so that the first one of the host finds all parts loaded. */
async function warmUp(): Promise<void> {
  prepare();
  const { inside } = realm as unknown as Realm;
  inside.begin({ calls: 0, callsInFlight: 1, payloadBytes: 1024 }, nextCallId);
  const main = await loadProgram(realm as unknown as Realm, WARM_UP);
  await new Promise<unknown>((resolve) => inside.run(main, resolve, resolve));
}

function receive(line: string): void {
  // A result's value is one of the program's realm.
  if (startsWith(line, RESULT)) {
    // One that comes after its run belongs to no program; the next realm has nothing that could take it yet.
    if (!ended) realm?.inside.settle(line);
    return;
  }
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
