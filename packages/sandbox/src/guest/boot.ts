import type { InitMessage, RunMessage } from "../protocol/host-messages.ts";
import {
  countWait,
  readMessages,
  redirectStderr,
  send,
  sendStderr,
  useToken,
  type HostMessage,
} from "./channel.ts";
import { explainDenied } from "./denied.ts";
import { deno, eventLoopHasMoreWork, onIdle, onUncaught } from "./deno.ts";
import { endStdin } from "./ended-stdin.ts";
import { patchFileFunctions } from "./file-view.ts";
import { failedMessage, toSourcePlaces } from "./guest-errors.ts";
import { collectGarbage } from "./memory.ts";
import { createModules, type ImportRequest, type ModuleSettings } from "./modules.ts";
import { RuntimeNeeded } from "./needs-runtime.ts";
import { usePaths } from "./paths.ts";
import { attempt, parseJson, quote, startsWith } from "./primordials.ts";
import { loadProgram } from "./program.ts";
import { createRealm, type Realm } from "./realm.ts";
import { withholdListening, withholdThreads } from "./withheld.ts";

const WARM_UP = "export default async function (value: unknown) { return [typeof value]; }";
const RESULT = '{"type":"result"';
const DONE = '{"type":"done"}';
/** The longest wait for work of the runtime once the program has its value, in milliseconds. */
const RUNTIME_WAIT_MS = 2_000;
/** A longer wait for it is told where the program has no value, in milliseconds. */
const NOTED_WAIT_MS = 100;
const RUNTIME_WORK = '{"kind":"operation","server":"","name":"work of the runtime","stack":""}';

/** Taken before any program runs. */
const later = setImmediate;
const startTimer = setTimeout;

/** Whether the guest serves more than one run. */
let isReused = false;
let moduleSettings: ModuleSettings = { hostTools: {}, toolFolders: [], hidden: [], texts: {} };
/** The current run; `undefined` while there is none. */
let current: RunMessage | undefined;
/** The realm of the current run, or of the next one. */
let realm: Realm | undefined;
/** Imports its modules, once it asks for some. */
let importAll: ReturnType<typeof createModules> | undefined;
/** The message of a program that has returned, while the run goes on for what it did not await. */
let returned: string | undefined;
let isChecking = false;
let isWaiting = false;
/** Whether the guest makes itself ready for the next run. */
let isRecovering = false;
/** Whether there is a realm for the next run, and nothing left of the last one. */
let isIdle = false;
/** Whether the program's own work has ended, and that of the runtime goes on. */
let awaitsRuntime = false;
/** Imports of the current run that go on. */
let importing = 0;
let nextCallId = 1;
let onWarm: (() => void) | undefined;

function sendReady(): void {
  send(`{"type":"ready","version":${quote(deno.version.deno)}}`);
}

/** Makes the realm of the next run. */
function prepare(isLight: boolean): Realm {
  importAll = undefined;
  realm = createRealm({ importModules, done: complete, failed, noteProgress }, isLight);
  return realm;
}

function isCurrent(own: Realm): boolean {
  return current !== undefined && own === realm;
}

async function importModules(own: Realm, id: number, requests: string): Promise<void> {
  importing += 1;
  try {
    importAll ??= createModules(own, moduleSettings);
    const namespaces = await importAll(parseJson(requests) as ImportRequest[]);
    if (isCurrent(own)) own.inside.imported(id, namespaces);
  } catch (error) {
    if (!isCurrent(own)) return;
    // No code has run: a program that imports later runs in the guest's own realm.
    if (attempt(() => error instanceof RuntimeNeeded, false)) void runInOwnRealm(current as RunMessage);
    else own.inside.importFailed(id, own.ownError(error));
  } finally {
    importing -= 1;
  }
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
  if (!goesOn && hasRuntimeWork(own)) return waitForRuntime(own, hasValue);
  isWaiting = goesOn;
  const work = toSourcePlaces(own.inside.listUnawaited(hasValue, goesOn));
  if (work !== "") tellUnawaited(!goesOn, work);
  if (!goesOn) end(own, returned);
}

function sendLast(message: string): void {
  try {
    send(message);
  } catch {
    // The program has closed the output.
    deno.exit(1);
  }
}

function tellUnawaited(isStopped: boolean, work: string): void {
  send(`{"type":"unawaited","isStopped":${isStopped},"work":[${work}]}`);
}

/** Whether the runtime has work of the program left, such as a file that is written. A light realm has none. */
function hasRuntimeWork(own: Realm): boolean {
  if (own.context !== undefined) return false;
  own.unrefTimers();
  countWait(false);
  const hasWork = eventLoopHasMoreWork();
  if (!hasWork) countWait(true);
  return hasWork;
}

/** Waits until the runtime has nothing left to do. A program that has its value may have left a watcher or a server. */
function waitForRuntime(own: Realm, hasValue: boolean): void {
  if (awaitsRuntime) return;
  awaitsRuntime = true;
  const told = (): void => {
    if (returned === undefined) return;
    tellUnawaited(hasValue, RUNTIME_WORK);
    if (hasValue) end(own, returned);
  };
  const timer = startTimer(told, hasValue ? RUNTIME_WAIT_MS : NOTED_WAIT_MS);
  deno.unrefTimer(timer as unknown as number);
}

/** The runtime has nothing left to do. */
function lookAgain(): void {
  countWait(true);
  if (realm !== undefined) endOrWait(realm);
}

function end(own: Realm, message: string): void {
  if (!isCurrent(own)) return;
  current = undefined;
  returned = undefined;
  nextCallId = own.inside.nextCallId();
  own.end();
  // The host ends this guest.
  if (own.context === undefined || !isReused) return sendLast(message);
  isRecovering = true;
  // After what the program has left in the queue of microtasks, and the rejections that nobody handled.
  later(() => later(() => recover(message)));
}

/**
 * Nothing can call a program of an ended run: its timers are stopped, and its calls are answered no more.
 *
 * @param message - How the run ended. The host may send the next run from then on.
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
 * Runs the program in the guest's own realm, with the whole runtime. The host hears of it before any code of the program
 * runs, and ends this guest after the run.
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
  try {
    main = await loadProgram(own, message.source);
  } catch (error) {
    if (error instanceof RuntimeNeeded) return runInOwnRealm(message);
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
  noThreads = false,
}: InitMessage): Promise<void> {
  useToken(token);
  withholdListening();
  if (noThreads) withholdThreads();
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
  else if (message.type === "rest") collectGarbage(true);
  else sendReady();
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
  if (importing > 0 || realm.context === undefined) return false;
  return !realm.hasTimers && realm.inside.hasCalls();
}

// The host has closed the channel.
void readMessages(receive, waitsForHost).finally(() => deno.exit(1));
