import { customerNameOf } from "./customer.ts";
import type { OpenCustomer } from "./customer.ts";
import type { Caller, HostOf, ToolHost } from "./server-tool.ts";

/** What a request's tools work with: that of its customer, where there are customers. */
export function hostPerRequest(host: ToolHost, openCustomer: OpenCustomer | undefined): HostOf {
  if (openCustomer === undefined) return () => host;
  const ofCustomer = async (context: Caller): Promise<ToolHost> => ({
    ...host,
    ...(await openCustomer(customerNameOf(context))),
  });
  // Of one call, what is opened first is used to the end: a customer who is deleted meanwhile must not come back.
  const opened = new WeakMap<Caller, Promise<ToolHost>>();
  return (context) => {
    const opening = opened.get(context) ?? ofCustomer(context);
    opened.set(context, opening);
    return opening;
  };
}
