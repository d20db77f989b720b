import type { InitMessage, RunMessage } from "../protocol/host-messages.ts";
import { readMessages, redirectStderr, send, sendStderr, useToken, type HostMessage } from "./channel.ts";
import { explainDenied } from "./denied.ts";
import { deno, onUncaught } from "./deno.ts";
import { patchFileFunctions } from "./file-view.ts";
import { attempt, failedMessage, toSourcePlaces } from "./guest-errors.ts";
import { collectGarbage } from "./memory.ts";
import { Modules, RuntimeNeeded, type ImportRequest, type ModuleSettings } from "./modules.ts";
import { usePaths } from "./paths.ts";
import { parseJson, quote, startsWith } from "./primordials.ts";
import { loadProgram } from "./program.ts";
import { createRealm, type Realm } from "./realm.ts";

const WARM_UP = "export default async function (value: unknown) { return [typeof value]; }";
const RESULT = '{"type":"result"';
const DONE = '{"type":"done"}';

/** Taken before any program runs. */
const later = setImmediate;
const startTimer = setTimeout;

let version = "";
/** Whether the guest serves more than one run. */
let isReused = false;
let moduleSettings: ModuleSettings = { hostTools: {}, toolFolders: [], hidden: [], texts: {} };
/** The current run; `undefined` while there is none. */
let current: RunMessage | undefined;
/** The realm of the current run, or of the next one. */
let realm: Realm | undefined;
/** Its modules, once it asks for some. */
let modules: Modules | undefined;
/** The message of a program that has returned, while the run goes on for what it did not await. */
let returned: string | undefined;
let isChecking = false;
let isWaiting = false;
/** Whether the guest makes itself ready for the next run. */
let isRecovering = false;
/** Whether there is a realm for the next run, and nothing left of the last one. */
let isIdle = false;
/** Imports of the current run that go on. */
let importing = 0;
let nextCallId = 1;
let onWarm: (() => void) | undefined;
/** Lets the current program begin, which is held until then. */
let onGo: (() => void) | undefined;

function readyMessage(): string {
  return `{"type":"ready","version":${quote(version)}}`;
}

/** Makes the realm of the next run. */
function prepare(isLight: boolean): Realm {
  modules = undefined;
  realm = createRealm({ importModules, done: complete, failed, noteProgress }, isLight);
  return realm;
}

function isCurrent(own: Realm): boolean {
  return current !== undefined && own === realm;
}

function importModules(own: Realm, id: number, requests: string, isLater: boolean): void {
  importing += 1;
  const importedAll = importAll(own, id, requests).catch((error: unknown) => {
    if (current === undefined || own !== realm) return;
    // Code that has run is not run again.
    if (attempt(() => error instanceof RuntimeNeeded, false) && !isLater) void runInOwnRealm(current);
    else own.inside.importFailed(id, own.ownError(error));
  });
  void importedAll.finally(() => (importing -= 1));
}

async function importAll(own: Realm, id: number, requests: string): Promise<void> {
  modules ??= new Modules(own, moduleSettings);
  const namespaces = await modules.importAll(parseJson(requests) as ImportRequest[]);
  if (!isCurrent(own)) return;
  for (const namespace of namespaces) own.inside.addImported(id, namespace);
  own.inside.imported(id);
}

function complete(own: Realm, json: string | undefined): void {
  if (onWarm !== undefined) return onWarm();
  if (!isCurrent(own)) return;
  returned = json === undefined ? DONE : `{"type":"done","value":${json}}`;
  isWaiting = false;
  noteProgress(own);
}

/** Looks, after all that follows at once, whether a program that has returned has work left. */
function noteProgress(own: Realm): void {
  if (returned === undefined || isChecking || own !== realm) return;
  isChecking = true;
  const look = (): void => {
    isChecking = false;
    endOrWait(own);
  };
  // The runtime tells of a rejection that nobody handles some turns after it.
  if (own.context === undefined) startTimer(look, 1);
  else later(look);
}

function endOrWait(own: Realm): void {
  if (returned === undefined || !isCurrent(own)) return;
  const hasValue = returned !== DONE;
  const goesOn = own.inside.isWaitedFor(hasValue);
  if (goesOn && isWaiting) return;
  isWaiting = goesOn;
  const work = toSourcePlaces(own.inside.listUnawaited(hasValue, goesOn));
  if (work !== "") tell(`{"type":"unawaited","isStopped":${!goesOn},"work":[${work}]}`);
  if (!goesOn) end(own, returned);
}

function tell(message: string, next?: string): void {
  try {
    send(message, next);
  } catch {
    // The program has closed the output.
    deno.exit(1);
  }
}

function end(own: Realm, message: string): void {
  if (!isCurrent(own)) return;
  current = undefined;
  returned = undefined;
  nextCallId = own.inside.nextCallId();
  own.end();
  // The host ends this guest.
  if (own.context === undefined || !isReused) return tell(message);
  isRecovering = true;
  // After what the program has left in the queue of microtasks, and the rejections that nobody handled.
  later(() => later(() => recover(message)));
}

/**
 * Nothing can call a program of an ended run: its timers are stopped, and its calls are answered no more.
 *
 * @param message - How the run ended. The host hears of it and of the readiness at once.
 */
function recover(message?: string): void {
  if (message === undefined) send(readyMessage());
  else tell(message, readyMessage());
  // While the host is busy.
  collectGarbage();
  prepare(true);
  isRecovering = false;
  isIdle = true;
}

function failed(own: Realm, json: string): void {
  if (isCurrent(own)) end(own, failedMessage(json));
}

async function run(message: RunMessage): Promise<void> {
  isIdle = false;
  current = message;
  // Of this run for good: a program that is dropped waits forever.
  const mayRun = message.isHeld === true ? new Promise<void>((resolve) => (onGo = resolve)) : undefined;
  moduleSettings = { ...moduleSettings, texts: message.modules ?? {}, mayRun };
  if (message.needsRuntime === true) return runInOwnRealm(message);
  const own = realm ?? prepare(true);
  begin(own, message);
  if (message.laterImports !== undefined) {
    try {
      // They are read again when the program imports them: it may write them before.
      const imports = message.laterImports.map((specifier) => ({ specifier, names: [] }));
      await new Modules(own, moduleSettings).prepare(imports);
    } catch {
      if (mayRun !== undefined) await mayRun;
      return runInOwnRealm(message);
    }
  }
  if (mayRun !== undefined) {
    modules = new Modules(own, moduleSettings);
    // The program meets the error when it imports them.
    await modules.prepare(message.imports ?? []).catch(() => {});
  }
  return start(own, message, mayRun);
}

function go(): void {
  onGo?.();
  onGo = undefined;
}

/** Drops the program that is held. */
function drop(): void {
  current = undefined;
  onGo = undefined;
  realm?.end();
  isRecovering = true;
  later(() => recover());
}

function begin(own: Realm, { callsInFlight, payloadBytes }: RunMessage): void {
  own.inside.begin(callsInFlight, payloadBytes, nextCallId);
}

/**
 * Runs the program in the guest's own realm, with the whole runtime. The host hears of it before any code of the program
 * runs, and ends this guest after the run.
 */
async function runInOwnRealm(message: RunMessage): Promise<void> {
  send('{"type":"single-use"}');
  realm?.end();
  const own = prepare(false);
  // Notes the work of the runtime, too.
  modules = new Modules(own, moduleSettings);
  begin(own, message);
  return start(own, message);
}

async function start(own: Realm, { source }: RunMessage, mayRun?: Promise<void>): Promise<void> {
  let main: unknown;
  try {
    main = await loadProgram(own, source, mayRun);
  } catch (error) {
    if (mayRun !== undefined) await mayRun;
    own.inside.fail(error, "syntax");
    return;
  }
  own.inside.run(main);
}

async function initialize({
  token,
  paths,
  hostPaths = {},
  hasOwnView = false,
  reuse = false,
  hostTools = {},
  toolFolders = [],
  hidden = [],
}: InitMessage): Promise<void> {
  useToken(token);
  moduleSettings = { hostTools, toolFolders, hidden, texts: {} };
  if (paths !== undefined) {
    usePaths(paths, hostPaths);
    patchFileFunctions(hasOwnView);
  }
  redirectStderr();
  explainDenied();
  onUncaught((thrown) => {
    if (current !== undefined) realm?.inside.fail(thrown, "exception");
  });
  await warmUp();
  prepare(true);
  delete deno[deno.internal];
  // Left there by the runtime's own start.
  delete (globalThis as { nodeBootstrap?: unknown }).nodeBootstrap;
  version = deno.version.deno;
  isReused = reuse;
  send(readyMessage());
  isIdle = true;
}

/** Runs a program, so that the first one of the host finds all parts loaded. */
async function warmUp(): Promise<void> {
  const warm = new Promise<void>((resolve) => (onWarm = resolve));
  const own = prepare(true);
  own.inside.begin(1, 1024, nextCallId);
  own.inside.run(await loadProgram(own, WARM_UP));
  await warm;
  onWarm = undefined;
}

function receive(line: string): void {
  // A result's value is one of the program's realm.
  if (startsWith(line, RESULT)) {
    // One that comes after its run belongs to no program; the next realm has nothing that could take it yet.
    if (current !== undefined) realm?.inside.settle(line);
    return;
  }
  const message = parseJson(line) as HostMessage;
  if (message.type === "run") void run(message).catch(giveUp);
  else if (message.type === "init") void initialize(message).catch(giveUp);
  else if (message.type === "go") go();
  else if (message.type === "drop") drop();
  else if (message.type === "rest") collectGarbage(true);
  else send(readyMessage());
}

/** Ends a guest that can't start. The host shows why. */
function giveUp(error: unknown): void {
  sendStderr(`${(error as Error).stack}\n`);
  deno.exit(1);
}

/**
 * Whether nothing but the host's next message can take this guest on. In a light realm there are but calls, timers and imports,
 * and this looks after all that follows at once.
 */
async function waitsForHost(): Promise<boolean> {
  if (isIdle) return true;
  if (realm?.context === undefined) return false;
  const isSettling = (): boolean => isChecking || isRecovering;
  do await new Promise<void>((resolve) => later(resolve));
  while (isSettling());
  if (current === undefined) return isIdle;
  if (onGo !== undefined) return true;
  if (importing > 0 || realm.context === undefined) return false;
  return !realm.hasTimers && realm.inside.hasCalls();
}

// The host has closed the channel.
void readMessages(receive, waitsForHost).finally(() => deno.exit(0));
