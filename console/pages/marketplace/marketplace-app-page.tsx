import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { accountQuery } from '../../client/session.ts';
import { FactList } from '../../ui/facts.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import styles from './marketplace-page.module.css';
import { PublisherActions } from './publisher-actions.tsx';
import { appQuery, readAppParams } from './queries.ts';
import { SubscriberActions } from './subscriber-actions.tsx';
import { VersionsSection } from './versions-section.tsx';

const route = getRouteApi('/signed-in/marketplace/$partner/$app');

/** One app of the marketplace with its versions. Its publisher changes it; another account subscribes. */
export function MarketplaceAppPage() {
  const params = readAppParams(route.useParams());
  const { data: app } = useSuspenseQuery(appQuery(params));
  const { data: account } = useSuspenseQuery(accountQuery);
  const isPublisher = account.id === app.partner_id;
  usePageTitle(app.title, 'Marketplace');
  return (
    <>
      <PageHeader
        title={app.title}
        description={
          <>
            <Link to="/marketplace">Marketplace</Link> · <code>{app.id}</code> · <bdi>{app.partner_name}</bdi>
          </>
        }
        actions={isPublisher ? <PublisherActions app={app} /> : <SubscriberActions app={app} />}
      />
      <div className={styles.sections}>
        <StateNotice app={app} isPublisher={isPublisher} />
        {app.description !== '' && <p className={styles.text}>{app.description}</p>}
        <FactList facts={listFacts(app)} />
        <VersionsSection params={params} isPublisher={isPublisher} />
      </div>
    </>
  );
}

function listFacts(app: MarketplaceApp): Parameters<typeof FactList>[0]['facts'] {
  return [
    ['State', app.state],
    [
      'Application',
      app.ref_app_id && (
        <Link to="/apps/$application" params={{ application: app.ref_app_id }}>
          {app.ref_app_id}
        </Link>
      ),
    ],
    ['Categories', app.categories.join(', ')],
    ['Features', app.features.join(', ')],
    ['Changed', <RelativeTime key="changed" at={app.updated_at} />],
  ];
}

/** Says what an app that is not released lacks. */
function StateNotice({ app, isPublisher }: { app: MarketplaceApp; isPublisher: boolean }) {
  if (app.state === 'released') return null;
  if (app.state === 'retracted')
    return (
      <Notice kind="warning">
        The app is retracted. Subscribers read their finished runs and create no new ones
        {isPublisher ? ' until you release it again.' : ' until its publisher releases it again.'}
      </Notice>
    );
  return (
    <Notice kind="info">
      {app.latest_versions.length === 0
        ? 'Only your account sees the app. Publish a version, then release the app.'
        : 'Only your account sees the app. Release it so that other accounts can subscribe.'}
    </Notice>
  );
}
