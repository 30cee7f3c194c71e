import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
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
          <MoreRows list={list} count={apps.length} noun="app" />
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
    <DataTable
      label="Apps"
      rows={apps}
      keyOf={({ subscription_id }) => subscription_id}
      columns={[
        {
          title: 'App',
          hover: ({ title }) => title,
          cell: ({ id, title, partner_id }) => (
            <>
              <Link to="/marketplace/$partner/$app" params={{ partner: partner_id, app: id }}>
                <bdi>{title}</bdi>
              </Link>{' '}
              {title !== id && <code className="soft">{id}</code>}
            </>
          ),
        },
        { title: 'Publisher', cell: ({ partner_name }) => <bdi>{partner_name}</bdi> },
        { title: 'Categories', onPhone: 'hidden', cell: ({ categories }) => categories.join(', ') || '–' },
        { title: 'Newest version', onPhone: 'hidden', cell: (app) => app.latest_versions[0] ?? 'none' },
        { title: 'State', onPhone: 'plain', cell: ({ state }) => state },
      ]}
    />
  );
}
