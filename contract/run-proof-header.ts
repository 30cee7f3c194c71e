/** The header by which the proxy of a worker proves that the app of a run sent the request. */
export const RUN_PROOF_HEADER = 'switchyard-run-proof';
