/** Every guide shows how to call the server with each client, in one order. */
import { describe, expect, test } from 'vitest';
import { extractExamples, listExamplePages, listTabChoices, listTabLabels } from './examples.ts';

const CLIENTS = ['Command line', 'Python', 'curl', 'JavaScript'];

/** References, which show requests their own way, and notes of releases. */
const NO_GUIDE = /^\/docs\/(releases|using-switchyard\/reference\/(api|cli))(\/|$)|^\/(?!docs\/)/;

/** Guides that call a server without a tab for each client. */
const REASONS_BY_ROUTE: Record<string, string> = {
  '/docs/python-sdks': 'It is about Python alone.',
  '/docs/using-switchyard/deploy/release-from-git':
    'The commands plan, apply and promote have no operation of the API.',
};

/** A command, a program or a request that reaches a server. */
const CALL =
  /\bswitchyard (?!(dev|init)\b|[^\n]*--help)|from nextmv\.cloud import|\bcurl [^;]*\$SWITCHYARD_URL/;

function callsServer(route: string): boolean {
  return listTabChoices(route)
    .flatMap((choice) => extractExamples(route, choice))
    .some(({ text }) => CALL.test(text));
}

function hasTabForEachClient(route: string): boolean {
  return listTabLabels(route, 'client').some((labels) => labels.join() === CLIENTS.join());
}

describe('the tabs of the clients', () => {
  const guides = listExamplePages().filter((route) => !NO_GUIDE.test(route));

  test('exist on every guide that calls a server, except for a reason', () => {
    const without = guides.filter((route) => callsServer(route) && !hasTabForEachClient(route));
    expect(guides.length).toBeGreaterThan(90);
    expect(without).toEqual(Object.keys(REASONS_BY_ROUTE));
  });

  test('have one order; curl comes first where there is no command', () => {
    const disordered = guides.flatMap((route) =>
      listTabLabels(route, 'client')
        .filter((labels) => {
          const known = CLIENTS.filter((client) => labels.includes(client));
          const first = known.includes('Command line') ? [] : known.filter((client) => client === 'curl');
          return labels.join() !== [...new Set([...first, ...known])].join();
        })
        .map((labels) => `${route}: ${labels.join()}`),
    );
    expect(disordered).toEqual([]);
  });

  test.each([
    ['switchyard runs --status failed', true],
    ['python3 -m venv .venv', false],
    ['from nextmv.cloud import Client', true],
    ['curl -sS \\\n  "$SWITCHYARD_URL/readyz"', true],
    ['export SWITCHYARD_URL=http://127.0.0.1:8080', false],
    ['switchyard dev depots --input day-01.json', false],
    ['switchyard experiments create batch --help', false],
  ])('%j calls a server: %s', (text, calls) => {
    expect(CALL.test(text)).toBe(calls);
  });
});
