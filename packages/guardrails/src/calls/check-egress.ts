import { matchTools } from "@cem/core";
import type { JsonValue } from "@cem/core";
import { notAllowed } from "./check-inputs.ts";
import { checkingGuard } from "./guarded-call.ts";
import type { CallGuard } from "./guarded-call.ts";

/** Shorter secrets would match text by chance once separators are removed. */
const MIN_LOOSE_CHARACTERS = 12;
const MIN_CODED_CHARACTERS = 8;
const BYTES_PER_GROUP = 3;

/** Tells whether texts contain one of these secrets: in plain text, encoded, reversed, or in consecutive pieces. */
function createSecretSearch(secrets: readonly string[]): (texts: readonly string[]) => boolean {
  if (secrets.length === 0) return () => false;
  const coded = [...new Set(secrets.flatMap((secret) => [secret, ...encodings(secret)]))];
  const loose = new Set(secrets.map(bare).filter(({ length }) => length >= MIN_LOOSE_CHARACTERS));
  for (const secret of secrets) {
    const hex = Buffer.from(secret).toString("hex");
    if (hex.length >= MIN_LOOSE_CHARACTERS) loose.add(hex).add(reversed(hex));
  }
  for (const secret of loose) loose.add(reversed(secret));
  return (texts) => {
    if (texts.some((text) => coded.some((form) => text.includes(form)))) return true;
    const joined = bare(texts.join("").replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => fromHex(code)));
    return [...loose].some((form) => joined.includes(form));
  };
}

/** Base64 of the secret inside a longer encoded text, without the characters that depend on its neighbours. */
function encodings(secret: string): string[] {
  const forms: string[] = [];
  for (let offset = 0; offset < BYTES_PER_GROUP; offset += 1) {
    const bytes = Buffer.from(" ".repeat(offset) + secret);
    const start = offset === 0 ? 0 : offset + 1;
    const rest = bytes.length % BYTES_PER_GROUP;
    for (const form of ["base64", "base64url"] as const) {
      const text = bytes.toString(form).replaceAll("=", "");
      const own = text.slice(start, rest === 0 ? undefined : -1);
      if (own.length >= MIN_CODED_CHARACTERS) forms.push(own, reversed(own));
    }
  }
  return forms;
}

function bare(text: string): string {
  return text.replaceAll(/[^a-z0-9]+/gi, "").toLowerCase();
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join("");
}

function fromHex(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}

/** The hosts that the arguments of some tools may refer to. */
export interface EgressRule {
  /** Patterns of the tools, such as `web.*`. */
  tools: readonly string[];
  /** Hosts and domains of e-mail addresses: `api.example.com`, `*.example.com`. Empty: no hosts. */
  hosts: readonly string[];
}

/** Settings of {@link checkEgress}. */
export interface EgressSettings {
  /** Rules for tools. All rules that match a tool must allow a host. Tools without a rule may refer to any host. */
  rules?: readonly EgressRule[] | undefined;
  /** Values that arguments must not contain, such as secrets in the environment of this process. */
  secrets?: readonly string[] | undefined;
}

/** A shorter key contains neither a host nor a secret. */
const MIN_KEY_CHARACTERS = 4;
/**
 * A URL of a scheme that a URL parser takes with any number of slashes, or of another scheme. Matches overlap, since a URL
 * can be inside another. Without slashes, it is no plain word and ends at a colon: otherwise, each `http:` in a row would be a
 * long match.
 */
const URL_IN_TEXT =
  /(?=\b((?:https?|wss?):(?![a-z_][\w-]*(?:[\s"'<>`\\/:]|$))(?:\[[^\s[\]]{1,100}\]|[^\s"'<>`\\/:]{1,300})|(?:(?:https?|wss?|ftp):[\\/]+|[a-z][a-z0-9+.-]{1,30}:[\\/]{2,4})[^\s"'<>`\\/]{1,300}))/gi;
/** The name of a file or of a field: only tools for URLs would take it for one. */
const FTP_NAME = /^ftp:[^\\/]/i;
/** Resolved against a base without a domain. */
const RELATIVE_URL = /^[\0- ]*[\\/]/;
const BASE = "http://base";
/**
 * The domain of an e-mail address, or what follows the user of a URL: what is before the `@`, the blanks and the comment
 * after it, and the domain or the address in brackets.
 */
const AFTER_AT =
  /(?<=([^\s@]\s{0,8}))@(\s{0,8}(?:\([^()]{0,100}\)\s{0,8})?)(\[[^\s\]]{1,100}\]|[^\s@"'<>()[\],;:/?#\\]{1,255})/g;
/** Keys under which an `@` has a domain after it, even after blanks or a comment, and any word there is one. */
const MAIL_KEY = /(?:^|_|[a-z])(?:mail|to|cc|bcc|from|sender|recipient|address)(?:e?s)?$/i;
/** Follows the `@` of a package. As an address, it would have parts left out. */
const PACKAGE_VERSION = /^\d+\.\d+(?:\.\d+)?\.?$/;
const HOST_KEY =
  /(?:^|_|[a-z])(?:url|uri|host|hostname|domain|domains|endpoint|website|site|webhook|server|(?<!memory_?)address|origin|link)s?$/i;
/** Keys under which any word but a person's name is a host; under the others, it may be a name or an id. */
const SURE_HOST_KEY = /(?:^|_)(?:[Hh]ost|HOST)(?:[Nn]ame|NAME)?s?$|[a-z]Host(?:[Nn]ame)?s?$/;
const PERSON = /^(?!Localhost$)\p{Lu}\p{Ll}+$/u;
/** Stands for a key of an object under such a key. */
const INSIDE_HOST = "server";
/** A number by itself, or after `http:`, where 0 is this machine. */
const PLAIN_NUMBER = /^(?:[a-z]+:(?!0+\.?$))?(\d{1,8})\.?$/i;
/** The address 1.0.0.0 as a number. No host has a lower one. */
const LOWEST_ADDRESS = 2 ** 24;
/** A domain or an address, as a URL parser gives it. */
const DOMAIN_OR_ADDRESS = /[.[]/;
/** Addresses of cloud metadata services, which provide a machine's credentials. */
const METADATA_HOST =
  /^(?:169\.254\.\d+\.\d+|\[::ffff:a9fe:[0-9a-f]+\]|\[fd00:ec2::[0-9a-f]+\]|metadata\.google\.internal|metadata\.goog)\.?$/;

/**
 * Refuses calls whose arguments refer to forbidden hosts or to a cloud's metadata service, or contain secrets of this
 * process, even encoded, reversed or in pieces. Every spelling that a URL parser takes counts. It throws `TOOL_NOT_ALLOWED`.
 */
export function checkEgress({ rules = [], secrets = [] }: EgressSettings = {}): CallGuard {
  const compiled = rules.map(({ tools, hosts }) => ({
    matches: matchTools(tools),
    allows: matchHosts(hosts),
  }));
  const holdsSecret = createSecretSearch(secrets);
  return checkingGuard((call) => {
    const applied = compiled.filter(({ matches }) => matches(call));
    const texts = [...textsOf(call.args)].toReversed();
    if (holdsSecret(texts.map(({ text }) => text))) {
      throw notAllowed(call, "its arguments hold a secret of the process that runs the tools");
    }
    for (const { text, key } of texts) {
      for (const host of hostsIn(text, key)) {
        if (METADATA_HOST.test(host)) {
          throw notAllowed(call, "it points to the metadata service of a cloud", { host });
        }
        if (applied.some(({ allows }) => !allows(host))) {
          throw notAllowed(call, `it points to ${host}, which is not among the hosts it may reach`, { host });
        }
      }
    }
  });
}

function matchHosts(patterns: readonly string[]): (host: string) => boolean {
  const known = patterns.map((pattern) => pattern.toLowerCase());
  return (host) =>
    known.some((pattern) =>
      pattern.startsWith("*.")
        ? host.endsWith(pattern.slice(1)) || host === pattern.slice(2)
        : pattern === "*" || host === pattern,
    );
}

/** Every text in a value, including keys, with the key that holds it. */
function* textsOf(value: JsonValue): Generator<{ text: string; key: string }> {
  const pending: { value: JsonValue; key: string }[] = [{ value, key: "" }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: at, key } = next;
    if (typeof at === "string") yield { text: at, key };
    else if (Array.isArray(at)) for (const entry of at) pending.push({ value: entry, key });
    else if (typeof at === "object" && at !== null) {
      for (const [name, entry] of Object.entries(at)) {
        if (name.length >= MIN_KEY_CHARACTERS) yield { text: name, key: "" };
        const isInside = SURE_HOST_KEY.test(key) && !HOST_KEY.test(name);
        pending.push({ value: entry, key: isInside ? INSIDE_HOST : name });
      }
    }
  }
}

/** The hosts that a text refers to, as interpreted by a URL parser. */
function hostsIn(text: string, key: string): Set<string> {
  const hosts = new Set<string>();
  /** A word that is neither a domain nor an address counts only where it is sure to be a host. */
  const add = (written: string, isSure: boolean): void => {
    const host = hostOf(written);
    if (host !== undefined && (isSure || DOMAIN_OR_ADDRESS.test(host))) hosts.add(host);
  };
  // In a text that is one URL, a parser drops line ends, and takes blanks and quotes before an `@`.
  if (!isSmallNumber(text) && !FTP_NAME.test(text)) add(URL.parse(text)?.host ?? "", true);
  if (RELATIVE_URL.test(text)) add(URL.parse(text, BASE)?.host ?? "", false);
  if (HOST_KEY.test(key)) {
    const isSure = SURE_HOST_KEY.test(key) && !PERSON.test(text);
    if (isSure || !isSmallNumber(text)) add(text, isSure);
  }
  const forms = [text];
  // A URL or an address encoded inside a URL, or form-encoded.
  if (/%(?:25)*(?:2f|3a|40|5c)/i.test(text))
    forms.push(text.replaceAll(/%(?:25)*([0-9a-f]{2})/gi, (_, code: string) => fromHex(code)));
  for (const form of forms) {
    for (const [, url = ""] of form.matchAll(URL_IN_TEXT))
      if (!isSmallNumber(url)) add(url, /:[\\/]{2}/.test(url));
    for (const [, before = "", between = "", domain = ""] of form.matchAll(AFTER_AT)) {
      const isSpaced = between !== "" || /\s$/.test(before);
      if (MAIL_KEY.test(key)) add(withoutBrackets(domain), !isSpaced && form === text);
      else if (!isSpaced && (!PACKAGE_VERSION.test(domain) || METADATA_HOST.test(hostOf(domain) ?? "")))
        add(withoutBrackets(domain), false);
    }
  }
  return hosts;
}

function isSmallNumber(text: string): boolean {
  return Number(PLAIN_NUMBER.exec(text)?.[1] ?? LOWEST_ADDRESS) < LOWEST_ADDRESS;
}

/** An address in brackets, as an e-mail address has it, as a URL has it: only one with colons is in brackets there. */
function withoutBrackets(domain: string): string {
  const inner = /^\[(?:IPv6:)?(.*)\]$/i.exec(domain)?.[1];
  if (inner === undefined) return domain;
  return inner.includes(":") ? `[${inner}]` : inner;
}

function hostOf(written: string): string | undefined {
  const rest = written
    .trim()
    .replace(/^(?:(?:https?|wss?|ftp):[\\/]*|(?:[a-z][a-z0-9+.-]*:)?[\\/]{2,})/i, "");
  // Parsed as http, whose parser normalizes every form of an address.
  const host = URL.parse(`http://${rest}`)?.hostname.replace(/\.$/, "");
  return host === "" ? undefined : host;
}
