/** The parts of a run that a share link can show. */
export const SHARED_PARTS = ['summary', 'indicators', 'options', 'log', 'input', 'output', 'assets'] as const;
export type SharedPart = (typeof SHARED_PARTS)[number];
