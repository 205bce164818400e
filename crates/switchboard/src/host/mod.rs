//! Many servers at once: from config files to named, checked, callable tools.
