//! Identifies the hypervisor of this machine.
//!
//! On x86 the processor reports the hypervisor (CPUID). On other architectures the firmware's
//! description of the virtual machine identifies it: the devicetree, or the DMI tables. QEMU
//! describes the same machine for emulation (TCG) and for virtualisation (KVM); an emulated
//! processor has a vendor that no real processor has.

use super::root::{field, name_by_mark};
use super::{Root, cpu, cpu_arm};

/// The emulator of the processor or the hypervisor of this system, as reported by the processor,
/// else by the kernel; `None` on bare metal. An emulator of the operating system comes first, as in
/// `Wine 8.0 on KVM`.
pub fn hypervisor(root: &Root) -> Option<String> {
    if let Some(emulator) = timers::os::emulator() {
        return Some(emulator);
    }
    let hypervisor_name = match timers::arch::hypervisor() {
        Some(name) => name,
        None => root
            .read_text("/sys/hypervisor/type")
            .or_else(|| identify_by_firmware(root)),
    };
    let sandbox = || identify_sandbox(root).map(str::to_owned);
    let emulator = timers::os::machine::subsystem().or_else(sandbox);
    match (emulator, hypervisor_name) {
        (Some(emulator), Some(hypervisor_name)) => Some(format!("{emulator} on {hypervisor_name}")),
        (emulator, hypervisor_name) => emulator.or(hypervisor_name),
    }
}

/// Words in the kernel's version by which a sandbox, or a subsystem of another system, names itself.
/// gVisor reports one build date in all its versions (`pkg/sentry/syscalls/linux/linux64.go`).
const SANDBOXES: [(&str, &str); 4] = [
    ("gvisor", "gVisor"),
    ("Sun Jan 10 15:06:54 PST 2016", "gVisor"),
    ("WSL2", "WSL 2"),
    ("-Microsoft", "WSL 1"),
];

/// The folder of the devices that the firmware of a virtual machine describes.
const ACPI_DEVICES: &str = "/sys/bus/acpi/devices";

/// The sandbox or subsystem that executes the system calls of this program, or the virtual machine
/// monitor that is not named by the processor. Firecracker describes a generation counter of its
/// own, or Amazon's VMClock on a machine without DMI tables, which all instances of EC2 have.
fn identify_sandbox(root: &Root) -> Option<&'static str> {
    let version = root.read_text("/proc/version").unwrap_or_default();
    let is_firecracker = || {
        let has = |device: &str| root.exists(&format!("{ACPI_DEVICES}/{device}:00"));
        has("FCVMGID") || (has("AMZNC10C") && !root.exists("/sys/class/dmi/id"))
    };
    name_by_mark(&SANDBOXES, |word| version.contains(word))
        .or_else(|| is_firecracker().then_some("Firecracker"))
}

const DEVICETREE: &str = "/sys/firmware/devicetree/base";
/// Devicetree nodes through which QEMU passes its options to the firmware, on its machines `virt`
/// for Arm and for RISC-V.
const QEMU_NODES: [&str; 2] = ["fw-cfg@9020000", "fw-cfg@10100000"];
/// Names of hypervisors in the devicetree.
const DEVICETREE_NAMES: [(&str, &str); 5] = [
    ("qemu", "QEMU"),
    ("linux,kvm", "KVM"),
    ("xen,xen", "Xen"),
    ("vmware", "VMware"),
    // Firecracker, crosvm, kvmtool and others, which do not identify themselves further.
    ("linux,dummy-virt", "a hypervisor"),
];
/// Prefixes of the vendor names of virtual machines in the DMI tables, as in systemd-detect-virt.
/// Amazon's bare-metal machines have Amazon's name too.
const DMI_VENDORS: [(&str, &str); 10] = [
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("Amazon EC2", "Amazon EC2"),
    ("Google", "Google"),
    ("Microsoft Corporation", "Hyper-V"),
    ("VMware", "VMware"),
    ("Parallels", "Parallels"),
    ("Apple Virtualization", "Apple Virtualization"),
    ("Xen", "Xen"),
    ("BHYVE", "bhyve"),
];

fn identify_by_firmware(root: &Root) -> Option<String> {
    let name = identify_by_devicetree(root).or_else(|| identify_by_dmi(root))?;
    // An emulated processor has the implementer (Arm) or the vendor (RISC-V) 0.
    let is_emulated = || {
        let cpuinfo = cpu::read_cpuinfo(root);
        cpu_arm::is_emulated(root, &cpuinfo) || field(&cpuinfo, "mvendorid") == Some("0x0")
    };
    Some(if name == "QEMU" && is_emulated() {
        "QEMU (TCG)".into()
    } else {
        name.into()
    })
}

fn identify_by_devicetree(root: &Root) -> Option<&'static str> {
    if QEMU_NODES
        .iter()
        .any(|node| root.exists(&format!("{DEVICETREE}/{node}")))
    {
        return Some("QEMU");
    }
    // Each file holds several strings, each terminated by a zero byte.
    let words: Vec<String> = ["hypervisor/compatible", "compatible"]
        .iter()
        .filter_map(|file| root.read_text(&format!("{DEVICETREE}/{file}")))
        .collect();
    name_by_mark(&DEVICETREE_NAMES, |prefix| {
        words.iter().any(|text| text.contains(prefix))
    })
}

/// The vendor and the product of the machine (SMBIOS, system information).
fn read_dmi(root: &Root) -> [String; 2] {
    ["sys_vendor", "product_name"].map(|name| {
        root.read_name(&format!("/sys/class/dmi/id/{name}"))
            .unwrap_or_default()
    })
}

/// The product name of this machine, if its vendor set one.
pub fn product(root: &Root) -> Option<String> {
    /// Placeholders of boards whose vendor set no product name.
    const PLACEHOLDERS: [&str; 6] = [
        "to be filled",
        "system manufacturer",
        "system product name",
        "default string",
        "o.e.m.",
        "not specified",
    ];
    let reported = read_dmi(root).map(|part| {
        let small = part.to_lowercase();
        if PLACEHOLDERS.iter().any(|unfilled| small.contains(unfilled)) {
            String::new()
        } else {
            part
        }
    });
    let [vendor, product] = &reported;
    let name = if product.starts_with(vendor.as_str()) {
        product.clone()
    } else {
        reported.join(" ")
    };
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn identify_by_dmi(root: &Root) -> Option<&'static str> {
    let [vendor, product] = read_dmi(root);
    let name_of = |text: &str| name_by_mark(&DMI_VENDORS, |prefix| text.starts_with(prefix));
    // Microsoft and Google also make physical computers.
    match name_of(&vendor) {
        Some("Amazon EC2") if product.ends_with(".metal") => None,
        Some("Hyper-V") if product != "Virtual Machine" => None,
        Some("Google") if product != "Google Compute Engine" => None,
        known => known.or_else(|| name_of(&product)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::tests::test_root;

    #[test]
    fn identifies_sandboxes() {
        let sandbox = |files: &[(&str, &str)]| identify_sandbox(&test_root(files).1);
        for (version, name) in [
            (
                "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
                Some("gVisor"),
            ),
            ("Linux version 4.19.0-gvisor #1 SMP\n", Some("gVisor")),
            (
                "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@941d701f84f1)\n",
                Some("WSL 2"),
            ),
            (
                "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)\n",
                Some("WSL 1"),
            ),
            // A kernel for Azure, and one that was built by somebody at Microsoft.
            (
                "Linux version 6.8.0-1015-azure (buildd@lcy02-amd64-013)\n",
                None,
            ),
        ] {
            assert_eq!(sandbox(&[("proc/version", version)]), name, "{version}");
        }
        const OWN_COUNTER: (&str, &str) = ("sys/bus/acpi/devices/FCVMGID:00/hid", "FCVMGID\n");
        const VMCLOCK: (&str, &str) = ("sys/bus/acpi/devices/AMZNC10C:00/hid", "AMZNC10C\n");
        const DMI: (&str, &str) = ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        assert_eq!(sandbox(&[OWN_COUNTER]), Some("Firecracker"));
        assert_eq!(sandbox(&[VMCLOCK]), Some("Firecracker"));
        assert_eq!(sandbox(&[VMCLOCK, DMI]), None);
    }

    /// The hypervisor of a machine with these files, identified by its firmware.
    fn identified(files: &[(&str, &str)]) -> String {
        let found = identify_by_firmware(&test_root(files).1);
        found.unwrap_or_else(|| "none".into())
    }

    #[test]
    fn identifies_by_devicetree() {
        const COMPATIBLE: &str = "sys/firmware/devicetree/base/compatible";
        const QEMU_NODE: &str = "sys/firmware/devicetree/base/fw-cfg@9020000/compatible";
        let arm = |implementer| {
            format!("processor : 0\nCPU implementer : {implementer}\nCPU part : 0x051\n")
        };
        let [emulated, real] = [arm("0x00"), arm("0x41")];
        let riscv = "processor : 0\nmvendorid : 0x0\n";
        let (virt, board) = (
            "linux,dummy-virt\0",
            "raspberrypi,5-model-b\0brcm,bcm2712\0",
        );
        let qemu = (QEMU_NODE, "qemu,fw-cfg-mmio\0");
        for (compatible, node, processor, name) in [
            (virt, qemu, &*emulated, "QEMU (TCG)"),
            (virt, qemu, &real, "QEMU"),
            (virt, ("none", ""), &real, "a hypervisor"),
            ("riscv-virtio\0qemu", ("none", ""), riscv, "QEMU (TCG)"),
            (board, ("none", ""), &real, "none"),
        ] {
            let files = [(COMPATIBLE, compatible), node, ("proc/cpuinfo", processor)];
            assert_eq!(identified(&files), name, "{files:?}");
        }
        assert_eq!(identified(&[]), "none");
    }

    #[test]
    fn identifies_by_dmi() {
        for (vendor, product, name) in [
            ("QEMU", "KVM Virtual Machine", "QEMU"),
            ("Amazon EC2", "c7g.large", "Amazon EC2"),
            ("Amazon EC2", "c7g.metal", "none"),
            ("Microsoft Corporation", "Virtual Machine", "Hyper-V"),
            ("Microsoft Corporation", "Surface Pro", "none"),
            ("Ampere(R)", "Mt. Jade", "none"),
        ] {
            let files = [
                ("sys/class/dmi/id/sys_vendor", vendor),
                ("sys/class/dmi/id/product_name", product),
            ];
            assert_eq!(identified(&files), name, "{files:?}");
        }
    }
}
