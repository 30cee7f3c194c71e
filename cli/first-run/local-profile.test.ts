/** The profile that `npm start` saves for its server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readProfiles, writeProfiles } from '../profiles/profiles.ts';
import { saveLocalProfile } from './local-profile.ts';

const URL = 'http://127.0.0.1:8080';
let env: { SWITCHYARD_CONFIG: string };
beforeEach(() => {
  env = { SWITCHYARD_CONFIG: mkdtempSync(join(tmpdir(), 'switchyard-profiles-')) };
});
afterEach(() => rmSync(env.SWITCHYARD_CONFIG, { recursive: true }));

test('the first profile becomes the current one; a new token replaces the old one and keeps the application', () => {
  expect(saveLocalProfile(env, { url: URL, token: 'first' })).toBe('local');
  const local = { url: URL, token: 'first', application: 'routing' };
  writeProfiles(env, { current: 'local', profiles: { local } });
  expect(saveLocalProfile(env, { url: URL, token: 'second', authority: '/ca.pem' })).toBe('local');
  expect(readProfiles(env)).toEqual({
    current: 'local',
    profiles: { local: { ...local, token: 'second', authority: '/ca.pem' } },
  });
});

test('the current profile stays current, and a profile "local" of another server stays as it is', () => {
  const production = { url: 'https://switchyard.example.com', token: 'p' };
  writeProfiles(env, { current: 'production', profiles: { production } });
  saveLocalProfile(env, { url: 'http://127.0.0.1:1', token: 'first' });
  // The server was started on another port.
  saveLocalProfile(env, { url: URL, token: 'first' });
  expect(readProfiles(env).current).toBe('production');
  expect(saveLocalProfile(env, { url: 'http://127.0.0.1:9090', token: 'other' })).toBeUndefined();
  expect(readProfiles(env).profiles).toEqual({ production, local: { url: URL, token: 'first' } });
});
