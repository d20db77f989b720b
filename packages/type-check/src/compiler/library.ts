import { readFileSync } from "node:fs";
import path from "node:path";

/** Where the compiler sees the language's own declarations. */
const LIBRARY_FILE = "/library/lib.d.ts";
/** The only part that is a module: its local declarations must not become global. */
const ITERATOR_FILE = "/library/iterator.d.ts";
export const LIBRARY_FILES: readonly string[] = [LIBRARY_FILE, ITERATOR_FILE];

const ITERATOR_PART = "es2025.iterator";
const PARTS = ["esnext", "webworker"];

/**
 * Declarations, with their continuation lines, of worker features that browsers have and the guest's runtime lacks:
 * three quarters of that part. Without them the compiler starts in half the time.
 */
const ABSENT =
  /^(?:declare )?(?:interface|var|type|function) (?:ANGLE|Audio|CSS|Canvas|Client|Cookie|EXT|Encoded|Extendable|FetchEvent|FileSystem|Font|IDB|KHR|Media|Navigation|Notification|OES|OVR|Path2D|Push|RTC|Report|SecurityPolicy|ServiceWorker|Style|TextMetrics|Video|WEBGL|WebGL|WebTransport|WindowClient|XMLHttp).*\n(?:(?:[ \t}].*)?\n)*/gmu;

/** The functions that set a timer, up to their result: in the guest an object with the methods of Node's. */
const TIMER = /^(declare function set(?:Interval|Timeout)\([^)]{0,100}\): )number;/gmu;

/** Members that the guest's runtime has and TypeScript's library lacks. One that it declares as well gets another overload. */
const MORE_MEMBERS: Readonly<Record<string, string>> = {
  ErrorConstructor: "captureStackTrace",
  Date: "getYear setYear toGMTString",
  JSON: "isRawJSON rawJSON",
  Math: "sumPrecise",
  IteratorConstructor: "concat",
  Console: "profile profileEnd",
  Body: "textStream",
  Blob: "textStream",
  MessagePort: "hasRef ref unref",
  SubtleCrypto: "decapsulateBits decapsulateKey encapsulateBits encapsulateKey getPublicKey",
};
const MORE_DECLARATIONS = `interface ErrorConstructor { prepareStackTrace?: any; stackTraceLimit: number }
declare namespace Intl { interface PluralRules { ${methods("selectRange")} } }
declare namespace WebAssembly { function promising(...given: any[]): any; }`;

/** The constructors of web classes are objects without a name, which nothing can be added to elsewhere. */
const STREAM_CONSTRUCTOR = /^declare var ReadableStream: \{$/mu;

const REFERENCE = /^\/\/\/ <reference lib="(?<part>[^"]+)" \/>/gmu;

/**
 * TypeScript's library as one file, without comments and without features that guests lack. With its original hundred
 * files, each check would merge the declarations again, which takes half of its time.
 *
 * @param folder - The folder with the files, `lib.*.d.ts`.
 * @returns `undefined` for a file that is not part of the library.
 */
export function readLibrary(folder: string, file: string): string | undefined {
  if (file === ITERATOR_FILE) return readPart(folder, ITERATOR_PART);
  if (file !== LIBRARY_FILE) return undefined;
  const taken = new Set([ITERATOR_PART]);
  const take = (part: string): string[] => {
    if (taken.has(part)) return [];
    taken.add(part);
    const text = readPart(folder, part);
    const named = [...text.matchAll(REFERENCE)].flatMap(({ groups }) => groups?.["part"] ?? []);
    return [...named.flatMap(take), withoutComments(text)];
  };
  const text = PARTS.flatMap(take).join("\n").replaceAll(ABSENT, "").replaceAll(TIMER, "$1any;");
  const more = Object.entries(MORE_MEMBERS).map(
    ([name, members]) => `interface ${name} { ${methods(members)} }`,
  );
  const complete = text.replace(STREAM_CONSTRUCTOR, `$& ${methods("from")}`);
  return [complete, ...more, MORE_DECLARATIONS].join("\n");
}

function methods(names: string): string {
  return names.replaceAll(/\S+/gu, "$&(...given: any[]): any;");
}

function readPart(folder: string, part: string): string {
  try {
    return readFileSync(path.join(folder, `lib.${part}.d.ts`), "utf8");
  } catch (error) {
    throw new Error("TypeScript's library could not be read", { cause: error });
  }
}

/** No string or regular expression in the library looks like the beginning of a comment. */
function withoutComments(text: string): string {
  let kept = "";
  let at = 0;
  for (let start = text.indexOf("/*"); start !== -1; start = text.indexOf("/*", at)) {
    kept += text.slice(at, start);
    const end = text.indexOf("*/", start);
    at = end === -1 ? text.length : end + 2;
  }
  return (kept + text.slice(at)).replaceAll(REFERENCE, "");
}
