/** The name of all candidates together. The file has no schemas, which the first page of the console does not need. */
export const ALL_CANDIDATES = '*';
