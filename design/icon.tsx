const paths = {
  menu: 'M3 6h18M3 12h18M3 18h18',
  close: 'M5 5l14 14M19 5 5 19',
  sidebar: 'M3 5h18v14H3zM9 5v14',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.2 15.2 20.5 20.5',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
  previous: 'M14 6l-6 6 6 6',
  next: 'M10 6l6 6-6 6',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4.5 20.5c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5l4.5 4.5L19 7',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  run: 'M8 5l11 7-11 7z',
  experiment: 'M9 4h6M10 4v6l-5 9a1 1 0 0 0 1 1.5h12a1 1 0 0 0 1-1.5l-5-9V4M8 15h8',
  ensemble: 'M12 4l8 4-8 4-8-4zM4 12l8 4 8-4M4 16l8 4 8-4',
  input: 'M12 4v10M8 10l4 4 4-4M4 16v4h16v-4',
  list: 'M4 6h16M4 12h16M4 18h10',
  key: 'M14.5 4a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M10.6 13.4L4 20M6.5 17.5l2.5 2.5',
  applications: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
  marketplace: 'M5 9h14l1-4H4zM5 9v11h14V9M10 20v-6h4v6',
  queue: 'M4 7h11M4 12h16M4 17h7',
  worker: 'M7 7h10v10H7zM10 4v3M14 4v3M10 17v3M14 17v3M4 10h3M4 14h3M17 10h3M17 14h3',
  webhook: 'M9 8a4 4 0 1 1 6 3.5l3 5.5M12 8L8.5 14.5A4 4 0 1 0 9.5 18H18',
  people:
    'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M3 20c.5-3.5 3-5 6-5s5.5 1.5 6 5M16 5.5a3.5 3.5 0 0 1 0 6.5M17.5 15c2 .5 3.2 2 3.5 5',
  session: 'M4 5h16v11H4zM9 20h6M12 16v4',
  usage: 'M5 20V11M12 20V4M19 20v-6',
  quota: 'M4 17a8 8 0 1 1 16 0M12 17l4-5',
  retention: 'M4 5h16v4H4zM6 9v11h12V9M10 13h4',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  backup: 'M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 8v4l3 2',
  audit: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M14 3v5h5',
  good: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M8 12.2l2.8 2.8L16 9.5',
  bad: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M9 9l6 6M15 9l-6 6',
  warning: 'M12 4L2.8 20h18.4zM12 10v4.5M12 17.3v.2',
  waiting: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M12 7.5V12l3 2',
  stopped: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M8 12h8',
  offline: 'M4 4l16 16M8.5 8.8A9 9 0 0 0 4 11.5M12 12.5a5 5 0 0 1 4 2M12 19h.01M11 7.5a11 11 0 0 1 9.5 4',
  question:
    'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M9.8 9.7a2.3 2.3 0 1 1 3.5 2c-.8.5-1.3 1-1.3 1.9M12 16.3v.2',
  equal: 'M5 9h14M5 15h14',
  choose: 'M8 10l4-4 4 4M8 14l4 4 4-4',
  add: 'M12 5v14M5 12h14',
  down: 'M7 10l5 5 5-5',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
};

/** The names of the drawings. */
export type IconName = keyof typeof paths;

/** A line drawing beside words or inside a named button; screen readers skip it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
