/** Output of a hostile app, and an app that prints its input. */
import type { Files } from '@switchyard/server/testing/fixtures/apps.ts';

/** Prints its input as its output. */
export const ECHO_APP: Files = { main: '#!/bin/sh\ncat\n' };
export const ECHO_APP_TYPE = { executable_type: 'binary', runtime: 'native' } as const;

const SCRIPT = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;
/** Reverses the text after it, so that `exe` looks like a picture. */
const BIDI = 'plan\u202Egnp.exe';
/** A name that the API accepts, which tries to be a formula of a spreadsheet and an element of a page. */
export const HOSTILE_NAME = '=1+1<img src=x onerror=alert(1)>';
/** Text of an app, in which nothing is refused. */
export const HOSTILE_TEXT = '=1+1<img src=x onerror=alert(1)>\u202Egnp.exe';
const DEPTH = 2_000;

/** Returns JSON text whose names and values try to run as script, to reorder text, and to change prototypes. */
export function formatHostileOutput(): string {
  const solution = {
    [SCRIPT]: SCRIPT,
    link: 'javascript:document.title="hacked"',
    [BIDI]: BIDI,
    rows: [
      { name: SCRIPT, amount: 3, note: '=HYPERLINK("https://evil.example","x")' },
      { name: BIDI, amount: 20, note: '@SUM(1)' },
      { name: 'plain', amount: -5, note: '-1+1' },
    ],
    vehicles: [
      {
        id: SCRIPT,
        stops: [
          { name: SCRIPT, lat: 53.55, lon: 10 },
          { name: 'javascript:alert(1)', lat: 53.56, lon: 10.01 },
          { name: 'nowhere', lat: 'NaN', lon: null },
        ],
      },
    ],
    assignments: [
      { resource: SCRIPT, label: BIDI, start: '2026-03-02T06:00', end: '2026-03-02T14:00' },
      { resource: 'plain', label: 'never ends', start: '2026-03-02T06:00', end: 'NaN' },
    ],
  };
  const text = JSON.stringify({ solution, statistics: { schema: 'v1', result: { value: 1 } } });
  // JSON.stringify writes no own key of this name, and no array this deep.
  const extra = `"__proto__":{"polluted":true},"constructor":1,"deep":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;
  return `{${extra},${text.slice(1)}`;
}

/** Reports which of the console's secrets a page of an app reaches. */
const PROBE = `<p id="found"></p><script>
const attempt = (name, read) => { try { read(); return name + ' reached'; } catch { return name + ' refused'; } };
found.textContent = [
  attempt('cookie', () => document.cookie),
  attempt('parent', () => (parent.document.title = 'hacked')),
  'origin ' + origin,
].join(', ');
</script>`;

const visual = (schema: string) => ({ schema, label: SCRIPT, type: 'custom-tab' });

/** Output with an asset of each kind. */
export const HOSTILE_ASSETS = {
  solution: {},
  statistics: { schema: 'v1' },
  assets: [
    {
      name: 'Map',
      visual: visual('geojson'),
      content: {
        type: 'FeatureCollection',
        features: [
          {
            type: 'Feature',
            properties: { vehicle: SCRIPT, ['__proto__']: 1 },
            geometry: { type: 'Point', coordinates: [10, 53.5] },
          },
          { type: 'Feature', properties: null, geometry: { type: 'Point', coordinates: ['NaN', 900] } },
        ],
      },
    },
    {
      name: 'Load',
      visual: visual('chartjs'),
      content: { type: 'bar', data: { labels: [SCRIPT], datasets: [{ label: BIDI, data: [3] }] } },
    },
    { name: 'Page', visual: visual('html'), content: PROBE },
  ],
};
