import * as z from "zod/mini";
import { areQuick, oneOf, quickOnes, unionOf, withAll } from "./risk.ts";
import { choice, harmless, secretText, setting, text, withDefault } from "./setting.ts";

export const TYPE_NAME = /^[A-Z][A-Z\d_]{0,31}$/;
/** The types that need neither `custom` nor a plugin. A model finds the last two. */
export const BUILT_IN_TYPES: readonly string[] =
  "EMAIL PHONE SSN CREDIT_CARD IBAN IP MAC CRYPTO_ADDRESS NATIONAL_ID BIRTH_DATE SECRET NAME ADDRESS".split(
    " ",
  );

/** Regions that have a code but are not a country, or have no phone numbers of their own. */
const NO_COUNTRY = /^(?:AQ|BV|C[PQ]|DG|E[AUZ]|GS|HM|IC|PN|QO|TF|U[MN]|X[AB]|ZZ)$/;
const COUNTRY_NEEDED = "is not the code of a country, such as US, DE or GB (not UK)";

/** Whether a two-letter code is in use, and is not an alias of another country code. */
function isCountry(code: string): boolean {
  const { region } = new Intl.Locale(`und-${code}`);
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  return region === code && !NO_COUNTRY.test(code) && names.of(code) !== undefined;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u").source !== "";
  } catch {
    return false;
  }
}

const flowRule = z.strictObject({
  from: z.optional(text),
  to: z.optional(text),
  action: z.enum(["allow", "deny", "ask"]),
});

const typeName = z.string().check(z.regex(TYPE_NAME, "is not a name in upper case, such as EMAIL"));

const customType = z
  .strictObject({
    type: typeName,
    pattern: z.optional(text.check(z.refine(isPattern, "is not a regular expression"))),
    values: z.optional(z.array(text)),
  })
  .check(
    z.refine(
      ({ pattern, values }) => (pattern === undefined) !== (values === undefined),
      "needs either a pattern or values",
    ),
  );

/** How personal data and secrets are kept from the model when `guardrails.pii_detection` is on. */
export const privacySettings = {
  guest: setting(
    choice(["values", "tokens"], "values"),
    "What code in the sandbox sees of personal data and secrets.",
    { isStricter: oneOf("tokens") },
  ),
  rules: harmless(
    withDefault(z.array(flowRule), []),
    "Which values that tools returned may go where: a list of {from, to, action}. from: a server, tools (server.tool, server.read_*) or a type such as EMAIL; to: a server or tools; action: allow, deny or ask. The first that fits decides. Without rules every value may go to every tool; with some, what none names stays with its server. What a user or code wrote, and no tool returned, may go to every tool, also where a rule denies its type.",
  ),
  types: setting(
    z.optional(z.array(typeName)),
    `Types that are found: ${BUILT_IN_TYPES.slice(0, -2).join(", ")}. Default: all.`,
  ),
  regions: setting(
    withDefault(
      z.array(
        z
          .string()
          .check(
            z.regex(/^[A-Z]{2}$/, { error: COUNTRY_NEEDED, abort: true }),
            z.refine(isCountry, COUNTRY_NEEDED),
          ),
      ),
      ["US"],
    ),
    "Countries whose phone numbers are found as they are written at home.",
    { isStricter: withAll, strictPart: unionOf },
  ),
  custom: setting(
    withDefault(z.array(customType), []),
    "Values of your own: a list of {type, pattern} or {type, values}.",
    { isStricter: areQuick, strictPart: quickOnes },
  ),
  namesModel: setting(
    z.optional(text),
    "Folder with a model for token classification, which finds names and addresses. Needs the package @huggingface/transformers.",
    { path: true, askedAs: "setting" },
  ),
  vault: setting(
    choice(["memory", "disk"], "memory"),
    "Where values are kept while their tokens are in use. disk: encrypted, and beyond the process.",
    { isStricter: oneOf("memory") },
  ),
  vaultDir: setting(withDefault(text, "./.cem/vaults"), "Folder of the encrypted values.", { path: true }),
  vaultKey: setting(
    z.optional(secretText),
    "Key of the encrypted values: 32 bytes in hex or base64. Of several with commas the first encrypts, and all of them open.",
    { variables: ["CEM_VAULT_KEY"] },
  ),
};
