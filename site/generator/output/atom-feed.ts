import { createHash } from 'node:crypto';
import { parseISO } from 'date-fns/parseISO';
import type { Release, ReleaseEntry } from '../markup/markup-context.ts';

/** Returns a UUID from the name alone, so it stays when the notes move to another page or the site to another address. */
function formatId(name: string): string {
  const hash = createHash('sha256').update(`switchyard ${name}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hash.charAt(16), 16) % 4];
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`];
  return `urn:uuid:${[...parts, `${variant}${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-')}`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The feed needs a time; a day gets midnight UTC. */
function formatTime(date: string): string {
  return date.includes('T') ? parseISO(date).toISOString() : `${date}T00:00:00.000Z`;
}

/** Formats all releases as an Atom feed (RFC 4287), the newest first. */
export function formatAtomFeed(releases: readonly ReleaseEntry[], publicUrl: string): string {
  const at = (address: string) => escapeXml(new URL(address, publicUrl).href);
  const numbers = ({ version }: Release) => version.split('.').map(Number);
  const sorted = releases.toSorted((one, other) => {
    const [a, b] = [numbers(one), numbers(other)];
    const place = a.findIndex((number, index) => number !== b[index]);
    return place === -1 ? 0 : (b[place] ?? 0) - (a[place] ?? 0);
  });
  const updated =
    sorted
      .map(({ date }) => formatTime(date))
      .toSorted()
      .at(-1) ?? '1970-01-01T00:00:00.000Z';
  const entries = sorted.map(
    ({ version, title, date, route, id, notes }) =>
      `<entry><id>${formatId(`release ${version}`)}</id><title>${escapeXml(`Switchyard ${version}: ${title}`)}</title>` +
      `<updated>${formatTime(date)}</updated><link rel="alternate" type="text/html" href="${at(`${route}#${id}`)}"/>` +
      `<summary>${escapeXml(notes)}</summary></entry>`,
  );
  const head =
    `<id>${formatId('releases')}</id><title>Switchyard releases</title><updated>${updated}</updated>` +
    `<author><name>Switchyard</name></author><link rel="self" type="application/atom+xml" href="${at('/releases.atom')}"/>` +
    `<link rel="alternate" type="text/html" href="${at('/docs/releases/latest')}"/>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">${head}\n${entries.join('\n')}\n</feed>\n`;
}
