const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Returns an instant in milliseconds as date and time of the reader's zone. */
export function formatExact(at: number): string {
  return exact.format(at);
}
