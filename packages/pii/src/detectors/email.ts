import { isEscape } from "../digits.ts";
import type { Detector, Finding } from "../types.ts";

/** As it is, and as it is written in addresses of pages. */
const SIGN = /@|%40/g;
const MAX_LOCAL_CHARACTERS = 64;
const MAX_DOMAIN_CHARACTERS = 253;
const LOCAL = /[\p{L}\p{N}\p{M}._%+'’~-]/u;
const DOMAIN = /[\p{L}\p{N}\p{M}.-]/u;
const DOMAIN_NAME =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?\.){1,8}(?:\p{L}[\p{L}\p{M}]{1,62}|xn--[a-z\d-]{1,59})$/iu;
/** Endings of files such as `logo@2x.png`. */
const FILE_ENDING = /\.(?:png|jpe?g|gif|svg|webp|css|m?js|json|tsx?|woff2?|pdf|tgz|zip)$/i;

const MAX_SCHEME_CHARACTERS = 40;
/** The beginning of an address of a machine, where a user's name stands before the machine's. */
const MACHINE_ADDRESS =
  /(?:https?|wss?|s?ftps?|ssh|git|svn|hg|rsync|scp|smb|nfs|vnc|rdp|telnet|ldaps?|smtps?|imaps?|pop3s?|tcp|udp|socks\d?|postgres(?:ql)?|mysql|mariadb|mssql|mongodb|rediss?|amqps?|mqtts?|nats|kafka|clickhouse)(?:\+[a-z\d]{1,16})?:\/\/$/i;

/** Finds addresses of email. */
export const emailDetector: Detector = {
  find(text) {
    const found: Finding[] = [];
    for (const { 0: sign, index: at } of text.matchAll(SIGN)) {
      const start = localStart(text, at);
      if (start === at) continue;
      const end = domainEnd(text, at + sign.length);
      const domain = text.slice(at + sign.length, end);
      if (!DOMAIN_NAME.test(domain) || FILE_ENDING.test(domain) || isLocation(text, start, end)) continue;
      found.push({ start, end, type: "EMAIL" });
    }
    return found;
  },
};

function localStart(text: string, at: number): number {
  let start = at;
  const least = Math.max(0, at - MAX_LOCAL_CHARACTERS);
  while (start > least && LOCAL.test(characterBefore(text, start)))
    start -= characterBefore(text, start).length;
  if (start < at && isEscape(text, start)) start += 1;
  while (start < at && ".'’~%-".includes(text[start] ?? "")) start += 1;
  return text[at - 1] === "." ? at : start;
}

function domainEnd(text: string, start: number): number {
  let end = start;
  const most = Math.min(text.length, start + MAX_DOMAIN_CHARACTERS);
  while (end < most) {
    const character = String.fromCodePoint(text.codePointAt(end) ?? 0);
    if (!DOMAIN.test(character)) break;
    end += character.length;
  }
  while (end > start && ".-".includes(text[end - 1] ?? "")) end -= 1;
  return end;
}

function characterBefore(text: string, index: number): string {
  const low = text.charCodeAt(index - 1);
  const isPair = low >= 0xdc00 && low <= 0xdfff && index > 1;
  return isPair ? text.slice(index - 2, index) : (text[index - 1] ?? "");
}

/** Whether a place on a machine is meant, as in `git@github.com:org/repo.git` and `ssh://me@host.org`. */
function isLocation(text: string, start: number, end: number): boolean {
  if (start > 0 && text[start - 1] === "@") return true;
  if (MACHINE_ADDRESS.test(text.slice(Math.max(0, start - MAX_SCHEME_CHARACTERS), start))) return true;
  return text[end] === ":" && /^:[a-z~][\w.~-]*\//i.test(text.slice(end, end + 64));
}
