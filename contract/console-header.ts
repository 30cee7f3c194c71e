/** The header that the console sends with each request, and that pages of other sites cannot send. */
export const CONSOLE_HEADER = 'x-switchyard-console';
