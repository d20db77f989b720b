import * as z from "zod/mini";
import { number, setting, text, whole, withDefault } from "./setting.ts";

const MAX_SECONDS = 86_400;
const CUSTOMER_ID = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;

const customerId = z
  .string()
  .check(
    z.regex(
      CUSTOMER_ID,
      "is not a customer's id: lower-case letters, digits, _ and -, at most 64 characters",
    ),
  );

/** Settings of customers, each of whom has a workspace of their own. */
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
  header: setting(
    z.optional(text),
    "Header in which a proxy of customers.trusted_proxies names the customer.",
  ),
  trustedProxies: setting(
    withDefault(z.array(text), []),
    "Addresses whose customers.header is believed, such as 127.0.0.1.",
  ),
  maxOpen: setting(
    withDefault(whole(1, 10_000), 50),
    "Customers who have guests and connections at once. Others wait until one is idle.",
  ),
  idle: setting(
    withDefault(number(1, MAX_SECONDS), 300),
    "Seconds after which the guests and connections of a customer who does nothing are let go.",
  ),
};
