/** Timers can't wait longer. The time of a call is kept by its own clock, not by the SDK's. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;
