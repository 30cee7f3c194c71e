/** Notifications: PostgreSQL sends them to the sessions that listen, and the simulation delivers them as events. */
import type { Backend } from './backend.ts';
import type { Session } from './session.ts';

/** Returns true while an expected notification has not arrived. Once all are there, it sends them on. */
export function areNotificationsUnderWay(backends: Iterable<Backend>, sessions: Iterable<Session>): boolean {
  const all = [...backends];
  if (all.some(({ expected, notifications, isClosed }) => !isClosed && expected > notifications.length))
    return true;
  if (all.every(({ notifications }) => notifications.length === 0)) return false;
  for (const session of sessions)
    for (const bytes of session.backend?.notifications.splice(0) ?? []) session.answer(bytes);
  for (const backend of all) Object.assign(backend, { expected: 0, notifications: [] });
  return false;
}
