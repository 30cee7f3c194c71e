/** Instants of the reader's time zone in words. */

const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });
const instant = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** Returns a day, such as `Sat 28 Nov`. The time is in milliseconds. */
export function formatDay(at: number): string {
  return day.format(at).replace(',', '');
}

/** Returns an RFC 3339 instant with day and minute, such as `28 Nov, 08:00`. */
export function formatInstant(at: string): string {
  return instant.format(Date.parse(at));
}
