import path from "node:path";
import { findSecret } from "../secret-formats.ts";
import type { ProgramParts, Report } from "./collect.ts";
import type { Values } from "./values.ts";

/** How many characters are searched beyond twice those of the program. Texts that are put together can be many more. */
const MORE_SEARCHED_CHARACTERS = 65_536;

/** Reports secrets that are written into the code, also in parts. The message does not repeat them. */
export function checkSecrets({ length, texts }: ProgramParts, values: Values, report: Report): void {
  const kinds = new Map<string, string | undefined>();
  let left = 2 * length + MORE_SEARCHED_CHARACTERS;
  for (const { node, scope } of texts) {
    const value = values.textOf(node, scope);
    if (value === undefined) continue;
    if (!kinds.has(value)) {
      left -= value.length;
      if (left < 0) return;
      kinds.set(value, findSecret(value));
    }
    const kind = kinds.get(value);
    if (kind === undefined) continue;
    report.add(node, {
      rule: "secret-in-code",
      severity: "warning",
      message: `A text in the code looks like ${kind}.`,
      hint: "Leave it to the server that needs it, or to its environment.",
    });
  }
}

const FILE_FUNCTION =
  /^(?:module:(?:node:)?fs(?:\/promises)?\.|global\.Deno\.(?:read|write|open|stat|lstat|remove|rename|copy|mkdir|symlink|link|truncate|realPath|create|chmod|chown))/;
const NETWORK_FUNCTION =
  /^(?:global\.(?:fetch|WebSocket|EventSource|Request)|module:(?:node:)?https?\.(?:get|request))$/;
/** Folders of the host's system and of its users, which no sandbox shows. */
const HOST_FOLDER =
  /^(?:\/(?:etc|proc|sys|root|home|boot|Users|run|var\/(?:run|lib|log|spool))(?:\/|$)|\/dev\/(?!null|u?random|zero|std)|~(?:\/|$)|[A-Za-z]:[\\/])/;
/** The addresses at which clouds hand their credentials to machines. */
const METADATA =
  /^[a-z]+:\/\/(?:[^/@]*@)?(?:169\.254\.|\[(?:::ffff:)?(?:a9fe:|169\.254\.|fd00:ec2:)|2852039166\b|0xa9fe|0x?a9\.|metadata\.(?:google\.internal|goog|azure))/i;

/** Reports files of the host and addresses that give out the host's credentials, where they are written in the code. */
export function checkPlaces({ calls }: ProgramParts, values: Values, report: Report): void {
  for (const { node, scope } of calls) {
    if (!("callee" in node) || !("arguments" in node)) continue;
    const called = values.originOf(node.callee, scope) ?? "";
    const opensFile = FILE_FUNCTION.test(called);
    const connects = NETWORK_FUNCTION.test(called);
    if (!opensFile && !connects) continue;
    for (const argument of node.arguments.slice(0, 2)) {
      const value = values.textOf(argument, scope);
      if (value === undefined) continue;
      if (opensFile && isOnHost(value)) {
        report.add(node, {
          rule: "host-path",
          severity: "warning",
          message: "The code opens a file of the host.",
          hint: "Only /workspace and /tmp are there.",
        });
      }
      if (connects && METADATA.test(value.trim())) {
        report.add(node, {
          rule: "metadata-address",
          severity: "warning",
          message: "The code asks a cloud's metadata service, which gives out the host's credentials.",
          hint: "Call a tool for what is needed.",
        });
      }
    }
  }
}

function isOnHost(written: string): boolean {
  const plain = written.replace(/^file:\/\//, "");
  if (/^(?:~|[A-Za-z]:[\\/])/.test(plain)) return HOST_FOLDER.test(plain);
  const { groups } = /^\/workspace(?<inside>\/|$)/.exec(plain) ?? {};
  return groups === undefined
    ? HOST_FOLDER.test(path.posix.resolve("/workspace", plain))
    : HOST_FOLDER.test(path.posix.normalize(plain));
}
