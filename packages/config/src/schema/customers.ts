import * as z from "zod/mini";
import { OWNER_ID_RULE, GIVEN_OWNER_ID } from "@cem/core";
import { described, harmless, limit, number, setting, text, unique, whole, withDefault } from "./setting.ts";

const MAX_SECONDS = 86_400;
const MAX_QUOTA_RUNS = 1_000_000_000;
const MAX_QUOTA_SECONDS = 1_000_000_000;

const customerId = z
  .string()
  .check(z.regex(GIVEN_OWNER_ID, `is not a customer's id, which needs ${OWNER_ID_RULE}`));

const quota = z
  .strictObject({
    per: described(z.enum(["minute", "hour", "day", "week"]), "The time that it is for."),
    runs: described(
      z.optional(whole(1, MAX_QUOTA_RUNS)),
      "Most runs of code, repaired ones and tests of skills among them.",
    ),
    seconds: described(
      z.optional(number(0.1, MAX_QUOTA_SECONDS)),
      "Most seconds that code runs, without those in which a person is asked.",
    ),
  })
  .check(
    z.refine(({ runs, seconds }) => runs !== undefined || seconds !== undefined, "needs runs or seconds"),
  );

export const customerSettings = {
  dir: setting(withDefault(text, "./workspaces"), "Folder with one folder for each customer.", {
    path: true,
  }),
  id: setting(
    z.optional(customerId),
    "The customer that every run of this process belongs to. Unset: the server asks each request; everything else has one workspace.",
  ),
  claim: setting(
    z.optional(text),
    "Claim of the access token that names the customer. Default: issuer, client and subject together.",
  ),
  header: setting(z.optional(text), "Header in which a proxy of server.trusted_proxies names the customer."),
  quotas: harmless(
    withDefault(
      z.array(quota).check(
        unique(
          ({ per }) => per,
          (per) => `There is a quota per ${per} already.`,
          "per",
        ),
      ),
      [],
    ),
    "What each customer may use: a list of {per, runs, seconds}, such as {per: hour, runs: 100, seconds: 600}. All of them hold.",
  ),
  maxOpen: limit(
    withDefault(whole(1, 10_000), 50),
    "Customers who have guests and connections at once. Requests of others are refused until one of them is idle.",
  ),
  idle: limit(
    withDefault(number(1, MAX_SECONDS), 300),
    "Seconds after which the guests and connections of a customer who does nothing are let go.",
  ),
};
