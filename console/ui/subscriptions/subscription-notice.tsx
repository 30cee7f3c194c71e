import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { ReactNode } from 'react';
import { Notice } from '../notice.tsx';

/** Returns true for an application whose versions another account publishes. */
export function isSubscription({ type }: Pick<Application, 'type'>): boolean {
  return type === 'subscription';
}

/** Says why the application of a subscription lacks an action, with the page that explains it. */
export function SubscriptionNotice({ children }: { children: ReactNode }) {
  return (
    <Notice kind="info">
      {children} See <a href="/docs/using-switchyard/deploy/subscription-apps">Subscription apps</a>.
    </Notice>
  );
}
