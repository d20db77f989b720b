import type { Deadline } from "@cem/bridge";
import type { Elicit, Sample } from "@cem/core";
import type { UnansweredQuestion } from "./connection-types.ts";

/** A running call, as the handlers of a server's own requests see it. */
export interface CallInFlight {
  /** Paused while the user is asked. */
  deadline: Deadline;
  onWaiting?: ((isWaiting: boolean) => void) | undefined;
  elicit?: Elicit | undefined;
  sample?: Sample | undefined;
  session?: string | undefined;
  /** Set to a question during the call that nobody could be asked. */
  unansweredQuestion?: UnansweredQuestion | undefined;
}
