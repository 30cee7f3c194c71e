import type { SecretsCollectionSummary } from '@switchyard/contract/applications/secrets.ts';
import { useSuspenseInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationQuery } from '../../client/applications.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { MoreRows } from '../../ui/data-table/more-rows.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { formatCurl } from '../../ui/forms/curl.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { isSubscription, SubscriptionNotice } from '../../ui/subscriptions/subscription-notice.tsx';
import { useRight } from '../../ui/use-right.ts';
import { CollectionSection } from './collection-section.tsx';
import { CreateCollection } from './create-collection.tsx';
import { collectionsQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/secrets');

/** The secrets collections of an application. The chosen one is shown below the list. */
export function SecretsPage() {
  const { application } = route.useParams();
  const { collection: chosen } = route.useSearch();
  const list = useSuspenseInfiniteQuery(collectionsQuery(application));
  const collections = list.data.pages.flatMap(({ items }) => items);
  const visible = collections.find(({ id }) => id === chosen) ?? collections[0];
  const { data: app } = useSuspenseQuery(applicationQuery(application));
  const isSubscribed = isSubscription(app);
  const canWrite = useRight('write') && !isSubscribed;
  const [isCreating, setCreating] = useState(false);
  usePageTitle('Secrets', application);
  return (
    <>
      <PageHeader
        title="Secrets"
        description="Confidential values that apps get when they start. The console writes them and never shows them."
        actions={
          canWrite && (
            <Button kind="primary" onPress={() => setCreating(true)}>
              New collection
            </Button>
          )
        }
      />
      {isSubscribed ? (
        <SubscriptionNotice>
          The app of a subscription gets no secrets: they are variables and files, which could make it run
          other code.
        </SubscriptionNotice>
      ) : collections.length === 0 ? (
        <EmptyState title="No secrets collection yet" command={formatCreateCommand(application)}>
          <p>A collection holds licence keys and passwords. Instances and runs refer to it by its id.</p>
        </EmptyState>
      ) : (
        <CollectionTable collections={collections} visible={visible?.id} />
      )}
      <MoreRows list={list} count={collections.length} noun="collection" />
      {visible && <CollectionSection key={visible.id} application={application} collection={visible} />}
      {isCreating && <CreateCollection application={application} onClose={() => setCreating(false)} />}
    </>
  );
}

function formatCreateCommand(application: string): string {
  return formatCurl('createSecretsCollection', {
    params: { application_id: application },
    body: { id: 'solver-licence', secrets: [{ type: 'env', location: 'LICENCE_KEY', value: 'VALUE' }] },
  });
}

function CollectionTable({
  collections,
  visible,
}: {
  collections: readonly SecretsCollectionSummary[];
  visible: string | undefined;
}) {
  return (
    <DataTable
      label="Secrets collections"
      rows={collections}
      columns={[
        {
          title: 'Collection',
          hover: ({ name }) => name,
          cell: ({ id, name }) => (
            <>
              <Link
                from="/apps/$application/secrets"
                to="."
                search={{ collection: id }}
                resetScroll={false}
                {...(id === visible && { 'aria-current': 'true' as const })}
              >
                <bdi>{name}</bdi>
              </Link>{' '}
              {name !== id && <code className="soft">{id}</code>}
            </>
          ),
        },
        { title: 'Created', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        { title: 'Changed', kind: 'number', cell: ({ updated_at }) => <RelativeTime at={updated_at} /> },
      ]}
    />
  );
}
