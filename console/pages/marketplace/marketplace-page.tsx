import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { LoadMore } from '../../ui/resources/load-more.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { useRight } from '../../ui/use-right.ts';
import styles from './marketplace-page.module.css';
import { PublishApp } from './publish-app.tsx';
import { appsQuery } from './queries.ts';
import { SubscriptionsSection } from './subscriptions-section.tsx';

const LIST_COMMAND = formatCurl('listMarketplaceApps', {});

/** The released apps of the server, those that the account publishes, and its subscriptions. */
export function MarketplacePage() {
  usePageTitle('Marketplace');
  const list = useSuspenseInfiniteQuery(appsQuery);
  const apps = list.data.pages.flatMap(({ items }) => items);
  const canPublish = useRight('account');
  const [isPublishing, setPublishing] = useState(false);
  return (
    <>
      <PageHeader
        title="Marketplace"
        description="Applications that accounts of this server publish. Subscribe to one to run it on your inputs."
        actions={canPublish && <Button onPress={() => setPublishing(true)}>Publish an application</Button>}
      />
      <div className={styles.sections}>
        <section aria-labelledby="apps">
          <h2 id="apps">Apps</h2>
          {apps.length === 0 ? (
            <EmptyState title="No released app yet" command={LIST_COMMAND}>
              <p>
                An administrator publishes an application of the account here. See{' '}
                <a href="/docs/using-switchyard/deploy/subscription-apps">Subscription apps</a>.
              </p>
            </EmptyState>
          ) : (
            <AppTable apps={apps} />
          )}
          <LoadMore list={list} />
        </section>
        <SubscriptionsSection />
      </div>
      <Suspense fallback={null}>
        {isPublishing && <PublishApp onClose={() => setPublishing(false)} />}
      </Suspense>
    </>
  );
}

function AppTable({ apps }: { apps: readonly MarketplaceApp[] }) {
  return (
    <TableRegion label="Table of apps">
      <table className={table.table} aria-label="Apps">
        <TableHead texts={['App', 'Publisher', 'Categories', 'Newest version', 'State']} />
        <tbody>
          {apps.map((app) => (
            <tr key={app.subscription_id}>
              <td>
                <Link
                  to="/marketplace/$partner/$app"
                  params={{ partner: app.partner_id, app: app.id }}
                  className={styles.name}
                >
                  {app.title}
                </Link>
                {app.title !== app.id && <code>{app.id}</code>}
              </td>
              <td>{app.partner_name}</td>
              <td>{app.categories.join(', ') || '–'}</td>
              <td>{app.latest_versions[0] ?? 'none'}</td>
              <td>{app.state}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableRegion>
  );
}
