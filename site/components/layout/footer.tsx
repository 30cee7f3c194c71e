export function Footer() {
  return (
    <footer className="footer" id="site-foot">
      <p>Switchyard. Open source, on your own machines.</p>
      <nav aria-label="About this site">
        <a href="/terms">Terms</a>
        <a href="/privacy">Privacy</a>
        <a href="/status">Status</a>
      </nav>
    </footer>
  );
}
