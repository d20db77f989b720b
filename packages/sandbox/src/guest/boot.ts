import type { InitMessage, RunMessage } from "../protocol/host-messages.ts";
import {
  countWait,
  readMessages,
  redirectStderr,
  send,
  sendLast,
  sendReady,
  sendStderr,
  sendUnawaited,
  useToken,
  type HostMessage,
} from "./channel.ts";
import { explainDenied } from "./denied.ts";
import { deno, eventLoopHasMoreWork, isOwn, onIdle, onUncaught, startQuietTimer } from "./deno.ts";
import { endStdin } from "./ended-stdin.ts";
import { patchFileFunctions } from "./file-view.ts";
import { failedMessage, toSourcePlaces, withExitCode } from "./guest-errors.ts";
import { collectGarbage } from "./memory.ts";
import { createModules, type ImportRequest, type ModuleSettings } from "./modules.ts";
import { RuntimeNeeded } from "./needs-runtime.ts";
import { usePaths } from "./paths.ts";
import { parseJson, sliceText, startsWith } from "./primordials.ts";
import { loadProgram } from "./program.ts";
import { createRealm, type Realm } from "./realm.ts";
import { withholdListening, withholdUnfiltered } from "./withheld.ts";

const WARM_UP = "export default async function (value: unknown) { return [typeof value]; }";
const RESULT = '{"type":"result"';
const DONE = '{"type":"done"}';
/** Maximum wait for work of the runtime after the program returned a value, in milliseconds. */
const RUNTIME_WAIT_MS = 2_000;
/** A longer wait is reported when the program returned no value, in milliseconds. */
const NOTED_WAIT_MS = 100;
const STUCK =
  "The program awaits something that nothing can end any more: a promise that nothing settles, or input, which is closed here.";
/** Maximum wait of a program that has not returned for what the runtime does not count as work, in milliseconds. */
const STUCK_MS = 3_000;
const RUNTIME_WORK = '{"kind":"operation","server":"","name":"work of the runtime","stack":""}';

/** Captured before any program runs. */
const later = setImmediate;
const startTimer = setTimeout;
const stopTimer = clearTimeout;

let isReused = false;
let moduleSettings: ModuleSettings = { hostTools: {}, toolFolders: [], hidden: [], texts: {} };
/** The current run; `undefined` while there is none. */
let current: RunMessage | undefined;
/** The realm of the current run, or of the next one. */
let realm: Realm | undefined;
/** Its modules. Created at the first import. */
let modules: ReturnType<typeof createModules> | undefined;
/** The message of a program that has returned, while the run continues for work it did not await. */
let returned: string | undefined;
let hasBegun = false;
let isChecking = false;
let isWaiting = false;
let isRecovering = false;
/** Whether a realm for the next run exists and nothing is left of the last one. */
let isIdle = false;
/** Set while the program's own work has ended and that of the runtime continues. */
let runtimeWait: number | undefined;
/** Set once the runtime is idle. */
let stuckWait: number | undefined;
/** Whether the program fails as soon as the runtime is idle again. */
let isPatienceOver = false;
let nextCallId = 1;
let onWarm: (() => void) | undefined;

function prepare(isLight: boolean): Realm {
  modules = undefined;
  realm = createRealm({ importModules, done: complete, failed, noteProgress }, isLight);
  return realm;
}

function isCurrent(own: Realm): boolean {
  return current !== undefined && own === realm;
}

async function importModules(own: Realm, id: number, requests: string): Promise<void> {
  try {
    modules ??= createModules(own, moduleSettings);
    const evaluate = await modules.link(parseJson(requests) as ImportRequest[]);
    noteProgress(own);
    const namespaces = await evaluate();
    if (isCurrent(own)) own.inside.imported(id, namespaces);
  } catch (error) {
    if (!isCurrent(own)) return;
    // No code has run yet: programs with dynamic imports run in the guest's own realm anyway.
    if (isOwn(error, RuntimeNeeded)) void runInOwnRealm(current as RunMessage);
    else own.inside.importFailed(id, own.ownError(error));
  } finally {
    noteProgress(own);
  }
}

function complete(own: Realm, json: string | undefined): void {
  if (onWarm !== undefined) return onWarm();
  if (!isCurrent(own)) return;
  returned = json === undefined ? DONE : `{"type":"done","value":${json}}`;
  isWaiting = false;
  noteProgress(own);
}

/** Checks, after all immediate follow-up work, whether a program that has returned has work left, or another can go on. */
function noteProgress(own: Realm): void {
  if (isChecking || own !== realm) return;
  if (returned === undefined) return void later(() => failIfStuck(own, own.context !== undefined));
  isChecking = true;
  const look = (): void => {
    isChecking = false;
    endOrWait(own);
  };
  // The runtime reports unhandled rejections some event loop turns later.
  if (own.context === undefined) startTimer(look, 1);
  else later(look);
}

function endOrWait(own: Realm): void {
  if (returned === undefined || !isCurrent(own)) return;
  const hasValue = returned !== DONE;
  const goesOn = own.inside.isWaitedFor(hasValue);
  if (goesOn && isWaiting) return;
  if (!goesOn && hasRuntimeWork(own)) return waitForRuntime(own, hasValue);
  isWaiting = goesOn;
  if (own.inside.isResting()) return goesOn ? undefined : resume(own);
  const work = toSourcePlaces(own.inside.listUnawaited(goesOn));
  if (work !== "") sendUnawaited(!goesOn, work);
  if (!goesOn) return end(own, returned);
  // The host has the value, should the time run out.
  if (hasValue) send(`{"type":"returned"${sliceText(returned, DONE.length - 1)}`);
}

/** Continues a program that has waited for its other work to end. */
function resume(own: Realm): void {
  stopTimer(runtimeWait);
  runtimeWait = undefined;
  returned = undefined;
  own.inside.resume();
  noteProgress(own);
}

/** Ends the run of a program that has not returned while nothing is left that could wake it. */
function failIfStuck(own: Realm, isIdle: boolean): void {
  if (!isCurrent(own) || !hasBegun || returned !== undefined) return;
  if (modules?.isReading() === true || own.hasTimers || own.inside.hasCalls()) return;
  // The runtime tells when it has nothing left to do, either.
  if (!isIdle) return countWait(false);
  own.inside.fail(own.inside.makeError("Error", STUCK), "exception");
}

/** Whether the runtime has pending work of the program, such as a file write. A light realm has none. */
function hasRuntimeWork(own: Realm): boolean {
  if (own.context !== undefined) return false;
  own.unrefTimers();
  countWait(false);
  const hasWork = eventLoopHasMoreWork();
  if (!hasWork) countWait(true);
  return hasWork;
}

/** Waits until the runtime has nothing left to do. A program that has returned a value may have left a watcher or a server. */
function waitForRuntime(own: Realm, hasValue: boolean): void {
  if (runtimeWait !== undefined) return;
  const isResting = own.inside.isResting();
  const told = (): void => {
    if (returned === undefined) return;
    if (isResting) return resume(own);
    sendUnawaited(hasValue, RUNTIME_WORK);
    if (hasValue) end(own, returned);
  };
  runtimeWait = startQuietTimer(told, hasValue || isResting ? RUNTIME_WAIT_MS : NOTED_WAIT_MS);
}

/** Called when the runtime has nothing left to do. */
function lookAgain(): void {
  countWait(true);
  if (realm === undefined) return;
  if (isPatienceOver) failIfStuck(realm, true);
  // A timer without `ref`, which does not keep the runtime busy, may still wake the program.
  stuckWait ??= startQuietTimer(() => {
    isPatienceOver = true;
    if (returned === undefined) countWait(false);
  }, STUCK_MS);
  endOrWait(realm);
}

function end(own: Realm, message: string): void {
  if (!isCurrent(own)) return;
  current = undefined;
  returned = undefined;
  nextCallId = own.inside.nextCallId();
  own.end();
  // The host ends this guest.
  if (own.context === undefined || !isReused) return sendLast(withExitCode(message));
  isRecovering = true;
  // After the program's remaining microtasks and the reports of unhandled rejections.
  later(() => later(() => recover(message)));
}

/**
 * Prepares for the next run. Nothing can call into an ended program: its timers are stopped, and its calls are no
 * longer answered.
 *
 * @param message - The outcome of the run. After it, the host may send the next run.
 */
function recover(message: string): void {
  send(message);
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
  moduleSettings = { ...moduleSettings, texts: message.modules ?? {} };
  const own = realm ?? prepare(true);
  begin(own, message);
  return start(own, message);
}

function begin(own: Realm, { callsInFlight, payloadBytes }: RunMessage): void {
  own.inside.begin(callsInFlight, payloadBytes, nextCallId);
}

/**
 * Runs the program in the guest's own realm, with the whole runtime. The host is notified before any code of the
 * program runs, and ends this guest after the run.
 */
async function runInOwnRealm(message: RunMessage): Promise<void> {
  send('{"type":"single-use"}');
  realm?.end();
  const own = prepare(false);
  begin(own, message);
  return start(own, message);
}

async function start(own: Realm, message: RunMessage): Promise<void> {
  let main: unknown;
  hasBegun = false;
  try {
    main = await loadProgram(own, message.source);
  } catch (error) {
    if (isOwn(error, RuntimeNeeded)) return runInOwnRealm(message);
    own.inside.fail(error, "syntax");
    return;
  }
  own.inside.run(main);
  hasBegun = true;
  noteProgress(own);
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
  hasFilter = false,
}: InitMessage): Promise<void> {
  useToken(token);
  withholdListening();
  if (!hasFilter) withholdUnfiltered();
  moduleSettings = { hostTools, toolFolders, hidden, texts: {} };
  if (paths !== undefined) {
    usePaths(paths, hostPaths);
    patchFileFunctions(hasOwnView);
  }
  endStdin();
  redirectStderr();
  explainDenied();
  onIdle(lookAgain);
  onUncaught((thrown) => {
    if (current !== undefined) realm?.inside.fail(thrown, "exception");
  });
  await warmUp();
  prepare(true);
  delete deno[deno.internal];
  // Left there by the runtime's own start.
  delete (globalThis as { nodeBootstrap?: unknown }).nodeBootstrap;
  isReused = reuse;
  sendReady();
  isIdle = true;
}

/** Runs a program to load all parts before the host's first one. */
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
    // A result that arrives after its run belongs to no program, and the next realm can't take it yet.
    if (current !== undefined) realm?.inside.settle(line);
    return;
  }
  const message = parseJson(line) as HostMessage;
  if (message.type === "run") void run(message).catch(giveUp);
  else if (message.type === "init") void initialize(message).catch(giveUp);
  else if (message.type === "rest") collectGarbage(true);
  else sendReady();
}

/** Ends a guest that can't start. The host reports the reason. */
function giveUp(error: unknown): void {
  sendStderr(`${(error as Error).stack}\n`);
  deno.exit(1);
}

/**
 * Whether only the host's next message can give this guest anything to do. In a light realm only calls, timers and
 * imports can be pending; this checks after all immediate follow-up work.
 */
async function waitsForHost(): Promise<boolean> {
  if (isIdle) return true;
  if (realm?.context === undefined) return false;
  const isSettling = (): boolean => isChecking || isRecovering;
  do await new Promise<void>((resolve) => later(resolve));
  while (isSettling());
  if (current === undefined) return isIdle;
  if (modules?.isReading() === true || realm.context === undefined) return false;
  return !realm.hasTimers && realm.inside.hasCalls();
}

// The host has closed the channel.
void readMessages(receive, waitsForHost).finally(() => deno.exit(1));
