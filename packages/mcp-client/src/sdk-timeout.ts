/** The longest timeout of a timer, which disables the SDK's own: a call's timeout is kept by its deadline. */
export const NO_SDK_TIMEOUT_MS = 2_147_483_647;
