/* Without a server, a page must not start a worker. The search's script then runs in a hidden frame of the page. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.frame.addEventListener("load", () => {
        const { contentWindow: inside, contentDocument: page } = this.frame;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = page.createElement("script");
        script.src = url;
        script.addEventListener("load", () => {
          const waiting = this.waiting;
          this.waiting = null;
          waiting.forEach((data) => this.postMessage(data));
        });
        page.body.append(script);
      }, { once: true });
      document.body.append(this.frame);
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
