//! How a page looks: in light and dark, wide and on a phone, and whether it is accessible.

use std::{env, fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::chrome::{Chrome, tool};

/// Light or dark, and the width of a phone or none.
const LOOKS: [(&str, &str, Option<u32>); 4] = [
    ("light", "light", None),
    ("dark", "dark", None),
    ("phone", "light", Some(360)),
    ("phone-dark", "dark", Some(360)),
];

/// Runs axe-core, and returns its findings.
const AXE: &str = "const done = arguments[arguments.length - 1]; \
    axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map(violation => ({ \
    rule: violation.id, help: violation.help, nodes: violation.nodes.map(node => node.html + ' ' + node.failureSummary) \
    }))), error => done([{rule: 'axe failed', help: String(error)}]))";

impl Chrome {
    /// Checks the page in every way: nothing is wider than the screen, axe-core finds nothing, and screenshots are
    /// taken if requested.
    #[track_caller]
    pub(crate) fn look<'a>(&'a self, name: &'a str) -> impl Future<Output = ()> + 'a {
        let place = std::panic::Location::caller();
        async move {
            for (look, scheme, width) in LOOKS {
                let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
                self.own("Emulation.setEmulatedMedia", scheme).await;
                if let Some(width) = width {
                    let phone = json!({"width": width, "height": 740, "deviceScaleFactor": 2, "mobile": true});
                    self.own("Emulation.setDeviceMetricsOverride", phone).await;
                }
                self.picture(&format!("{name}-{look}")).await;
                if self.has_script() {
                    let too_wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
                    let too_wide = self.client.execute(too_wide, Vec::new()).await.expect("a number");
                    assert_eq!(too_wide, json!(0), "{place}: {name} in {look} is too wide");
                    let axe = fs::read_to_string(tool("axe-core/axe.min.js")).expect("axe-core");
                    self.client.execute(&axe, Vec::new()).await.expect("axe-core loads");
                    let found = self.client.execute_async(AXE, Vec::new()).await.expect("axe-core runs");
                    assert_eq!(found, json!([]), "{place}: {name} in {look}: {found:#}");
                }
                self.own("Emulation.clearDeviceMetricsOverride", json!({})).await;
            }
            self.own("Emulation.setEmulatedMedia", json!({"features": []})).await;
        }
    }

    async fn picture(&self, name: &str) {
        let Ok(folder) = env::var("TOOLNEXUS_PICTURES") else { return };
        let wanted = json!({"format": "png", "captureBeyondViewport": true});
        let picture: Value = self.own("Page.captureScreenshot", wanted).await;
        let bytes = STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64");
        fs::create_dir_all(&folder).expect("the folder");
        fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).expect("the picture is written");
    }
}
