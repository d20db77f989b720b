import type { Troubles } from "./trouble.ts";

/** Errors of customers. */
export const CUSTOMER_TROUBLES = {
  CUSTOMER_INVALID: {
    cause: "The id is empty, too long or no text.",
    wayOut: "Use the id that your sign-in gives.",
  },
  CUSTOMER_NOT_FOUND: { cause: "No customer has this id.", wayOut: "Look with `cem customers`." },
  CUSTOMER_GONE: {
    cause:
      "The customer was deleted while a run waited or was under way or an agent was open, or is being deleted.",
    wayOut: "Make a new agent, or ask again two seconds later, if the customer is to be there again.",
  },
  CUSTOMER_UNKNOWN: {
    cause: "A request has neither the claim nor the header that names its customer.",
    wayOut: "Check `customers.claim`, `customers.header` and `customers.trusted_proxies`.",
  },
  QUOTA_EXCEEDED: {
    cause: "The customer used up `customers.quotas` for this time.",
    wayOut: "Wait as long as the message says, or raise the quota.",
  },
} satisfies Troubles;
