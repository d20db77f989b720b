import type { Statement } from "@babel/types";
import type { Program } from "./parse-program.ts";
import { isLabel, patternNames, runtimeNodes, type NodeVisit } from "./syntax-tree.ts";

/** Names of Deno and of the language that a program has only where it runs among the runtime. */
const RUNTIME = new Set(
  "AbortController AbortSignal Atomics Blob BroadcastChannel Buffer ByteLengthQueuingStrategy Cache CacheStorage CloseEvent CompressionStream CountQueuingStrategy CryptoKey CustomEvent DOMException DOMMatrix DOMMatrixReadOnly DOMPoint DOMPointReadOnly DOMQuad DOMRect DOMRectReadOnly DecompressionStream ErrorEvent Event EventSource EventTarget File FileReader FinalizationRegistry FormData Headers ImageBitmap ImageBitmapRenderingContext ImageData Location Lock LockManager MessageChannel MessageEvent MessagePort Navigator NavigatorUAData OffscreenCanvas Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList ProgressEvent PromiseRejectionEvent QuotaExceededError ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SharedArrayBuffer Storage SubtleCrypto Temporal TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLPattern URLSearchParams WeakRef WebAssembly WebSocket Window Worker WritableStream WritableStreamDefaultController WritableStreamDefaultWriter addEventListener atob btoa caches createImageBitmap dispatchEvent eval fetch global globalThis localStorage navigator onbeforeunload onunhandledrejection onunload process removeEventListener reportError require sessionStorage structuredClone".split(
    " ",
  ),
);
/** Objects of the runtime of which such a realm has some members. */
const LIGHT_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  console: new Set("log info debug warn error dir".split(" ")),
  Deno: new Set(
    "readTextFile writeTextFile mkdir remove rename copyFile readDir"
      .split(" ")
      .flatMap((name) => [name, `${name}Sync`]),
  ),
  performance: new Set(["now", "timeOrigin"]),
  crypto: new Set(["randomUUID"]),
  Error: new Set(["captureStackTrace", "isError", "prototype"]),
  Function: new Set(["prototype"]),
};
const MODULE = /^(?:cem:client$|\.{0,2}\/|file:|servers\/|skills\/|data:)/;

/**
 * Whether a program may use more than the language, tools, `console` and timers: a name of the runtime that is not declared
 * by the program's own statements, a module of the runtime, or what is imported or made code while it runs. A parameter or an
 * inner variable of such a name counts as its use.
 */
export function needsRuntime({ ast, imports }: Program): boolean {
  if (imports.some(({ typeOnly, specifier }) => !typeOnly && !MODULE.test(specifier))) return true;
  const own = new Set(ast.program.body.flatMap(declaredBy));
  for (const visit of runtimeNodes(ast.program)) {
    const { node } = visit;
    if (node.type === "ImportExpression") return true;
    if (node.type !== "Identifier" || isLabel(visit) || own.has(node.name)) continue;
    if (!isLight(node.name, visit)) return true;
  }
  return false;
}

function declaredBy(statement: Statement): string[] {
  const { type } = statement;
  if (type === "ImportDeclaration") return statement.specifiers.map(({ local }) => local.name);
  if (type === "ExportNamedDeclaration" || type === "ExportDefaultDeclaration") {
    const { declaration } = statement;
    return declaration == null ? [] : declaredBy(declaration as Statement);
  }
  if (type === "VariableDeclaration") return statement.declarations.flatMap(({ id }) => patternNames(id));
  return "id" in statement && statement.id?.type === "Identifier" ? [statement.id.name] : [];
}

function isLight(name: string, { node, parent }: NodeVisit): boolean {
  const members = Object.hasOwn(LIGHT_MEMBERS, name) ? LIGHT_MEMBERS[name] : undefined;
  const isMember =
    parent?.type === "MemberExpression" && parent.object === node && !parent.computed
      ? parent.property
      : undefined;
  if (isMember?.type === "Identifier" && members !== undefined) return members.has(isMember.name);
  if (name === "Error") return true;
  if (name === "Function") return parent?.type === "BinaryExpression" && parent.operator === "instanceof";
  return members === undefined && !RUNTIME.has(name) && !name.startsWith("GPU");
}
