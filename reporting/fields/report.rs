//! Defines the fields of a whole report: its identity, the program that wrote it, and the machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::Visibility::{Always, Data, InDocuments, InFull, Wide};
use super::clocks::{codes, joined};
use super::{Field, FieldUnit, Kind, LabelOf, Range, Read, field_table};
use crate::fields::slug;
use crate::table::CellValue;
use crate::text::date_time;
use estimators::model::{CoreKind, Cpu, Estimate, Platform, Report, USUAL_WAIT_NS};

/// The fields of a report belong to no kind of row.
const REPORT: &[Kind] = &[];

pub(super) fn fields() -> Vec<Field> {
    let file = of_file("file", "Path of the report", |path, _| Some(path_of(path)));
    let file = file
        .column("file", "report")
        .no_fact()
        .in_tables(Data)
        .by_platform(Data);
    let of_reports = field_table! { Read::Report, REPORT, |report| report;
        platform: Text = slug(&report.platform), "The machine, by its CPU with the generation, hypervisor and OS", in_tables(Always), no_fact();
    };
    [
        vec![file],
        of_reports,
        device_fields(),
        machine_fields(),
        frequency_fields(),
        condition_fields(),
        run_fields(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn path_of(path: &Path) -> CellValue {
    let path = path.display().to_string();
    Some(path)
        .filter(|path| !["", "-"].contains(&&**path))
        .into()
}

/// The publication, or a link to the report: its path without what all reports share, its date and the
/// version of timermeter.
fn source(path: &Path, report: &Report) -> CellValue {
    if report.is_published() {
        return (&report.provenance.source).into();
    }
    let name = match path_of(path) {
        CellValue::Nothing => slug(&report.platform),
        _ => short_path(path),
    };
    let date = report.day();
    // Stored reports are in a folder of their date.
    let date = match name.contains(date) {
        true => String::new(),
        false => format!(" of {date}"),
    };
    let text = format!("{name}{date}, timermeter {}", report.tool.version);
    CellValue::Link {
        text: text.into(),
        href: path.display().to_string().into(),
    }
}

/// A text that depends on the file of the report.
fn of_file(
    name: &'static str,
    about: &'static str,
    read: fn(&Path, &Report) -> Option<CellValue>,
) -> Field {
    Field::new(name, FieldUnit::Text, about, REPORT, Read::File(read))
}

/// The path of a report without what all reports share: the last two parts that name it.
pub fn short_path(path: &Path) -> String {
    let path = path.display().to_string();
    let path = path.trim_end_matches(".json").trim_end_matches(".html");
    let path = path.trim_end_matches("/report");
    let parts: Vec<&str> = path.rsplitn(3, '/').take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// What rows of platforms show besides the machine and the recommended clock.
pub(super) fn platform_fields() -> Vec<Field> {
    let mut all = field_table! { Read::Report, REPORT, |report| report;
        by_system_call: Nanoseconds = by_system_call(report)?, "Cost of the recommended clock if it is read by a system call instead of the vDSO",
            interval(), by_platform(Always), of_cpu();
        sleep: Nanoseconds = sleep_ns(report)?, "Median duration of an ordinary sleep (nanosleep) of 1 ms", titled("sleep of 1 ms"),
            interval(), by_platform(Wide), of_cpu();
    };
    let about = "Number of reports that the row is from";
    let one = Read::Report(|_| Some(1_u32.into()));
    let runs = Field::new("runs", FieldUnit::Count, about, REPORT, one);
    let about = "The report, or the publication, that the figures are from";
    let source = of_file("source", about, |path, report| Some(source(path, report)));
    all.push(runs.by_platform(Wide));
    all.push(source.by_platform(InDocuments));
    let derived = |field: Field| field.derived().no_fact();
    all.into_iter().map(derived).collect()
}

fn by_system_call(report: &Report) -> Option<Estimate> {
    let row = |id: &String| report.timers.iter().find(|row| row.id == *id);
    let recommended = row(report.assessment.to_time.as_ref()?)?;
    let properties = recommended.properties.as_ref()?;
    row(properties.syscall_variant.as_ref()?)?.cost_ns
}

/// The ids of the ordinary sleep, of which the first that was measured counts.
const SLEEPS: [&str; 2] = ["nanosleep", "std-sleep"];

fn sleep_ns(report: &Report) -> Option<Estimate> {
    let find = |id: &&str| report.waits.iter().find(|row| row.id == *id);
    let figures = SLEEPS.iter().find_map(find)?.figures.as_ref()?;
    let mut lengths = figures.lateness.iter();
    let late = lengths.find(|late| late.request_ns as f64 == USUAL_WAIT_NS)?;
    Some(late.p50_ns?.map(|late| USUAL_WAIT_NS + late))
}

/// The hypervisor, and the kernel without the numbers that do not name its series or else the OS.
fn system(platform: &Platform) -> String {
    let release = platform.kernel.release.as_deref();
    let family = match platform.os.family.as_str() {
        "linux" => "Linux",
        family => family,
    };
    let series = release.map(|release| format!("{family} {}", series(release)));
    let architecture = Some(platform.cpu.architecture.clone());
    let system = series.or_else(|| platform.os.name.clone());
    let parts = [platform.hypervisor.clone(), system, architecture];
    let known = parts.into_iter().flatten().filter(|part| !part.is_empty());
    known.collect::<Vec<_>>().join(" · ")
}

/// The name of the CPU; the model of the machine, or else the architecture, if it is unknown.
pub fn cpu_name(platform: &Platform) -> String {
    let name = platform.cpu.name().or_else(|| platform.product.clone());
    name.unwrap_or_else(|| platform.cpu.architecture.clone())
}

/// The series of a kernel, as in `6.18` of `6.18.44-generic`.
pub fn series(release: &str) -> String {
    release.split('.').take(2).collect::<Vec<_>>().join(".")
}

fn device_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        node: Text = &report.node, "Name of the node as given to the run", in_short(), by_platform(Data), label(LabelOf::Report, "node");
        devices: Text = joined(report.devices().iter().map(|device| device.name.clone()), ", "),
            "The devices whose processors read timers", in_short();
        device_frequency: Hertz = match report.devices()[..] { [device] => device.cycles_hz, _ => None },
            "Frequency that converts time to cycles of the device", interval();
    }
}

fn machine_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |machine| &machine.platform;
        cpu: Text = cpu_name(machine), "Brand and generation of the CPU", more("if they are unknown, the model of the machine, or the architecture"), in_short(), of_cpu(), by_platform(Always), label(LabelOf::Platform, "cpu");
        system: Text = system(machine), "Hypervisor, series of the kernel and architecture", derived(), no_fact(), by_platform(Always);
        cpu_vendor: Text = &machine.cpu.vendor, "Vendor of the CPU", no_fact(), of_cpu();
        cpu_family: Count = machine.cpu.family, "Family of the CPU, on x86", of_cpu();
        cpu_model: Count = machine.cpu.model_number, "Model number of the CPU, on x86", of_cpu();
        core_kind: Text = &machine.cpu.core_kind, "Kind of the measuring core, if the machine has several kinds", derived(), of_cpu(), no_fact();
        core_kinds: Text = core_kinds(&machine.cpu)?, "The kinds of cores with their CPUs, if there are several", titled("kinds of cores"), of_cpu();
        kernel_build: Text = &machine.kernel.version, "Build of the kernel", derived(), no_fact();
        cpu_stepping: Count = machine.cpu.stepping, "Stepping of the CPU, on x86", of_cpu();
        architecture: Text = &machine.cpu.architecture, "Instruction set architecture", by_platform(Data), label(LabelOf::Platform, "architecture");
        microcode: Text = &machine.cpu.microcode, "Revision of the microcode", of_cpu(), label(LabelOf::Platform, "microcode");
        cpus_online: Count = machine.cpu.online, "CPUs that are online", of_cpu();
        cpus_allowed: Text = &machine.cpu.allowed_list, "CPUs that the program may use", of_cpu();
        isolated: Text = &machine.cpu.isolated, "CPUs that the scheduler does not use (`isolcpus`)", titled("isolated CPUs"), of_cpu();
        nohz_full: Text = &machine.cpu.nohz_full, "CPUs without a timer interrupt while one thread runs (`nohz_full`)", titled("CPUs without tick"), of_cpu();
        smt: Truth = machine.cpu.smt, "Whether a core runs more than one hardware thread", of_cpu();
        governor: Text = &machine.cpu.governor, "cpufreq governor", of_cpu();
        turbo: Truth = machine.cpu.turbo, "Whether the CPU may run above its nominal frequency", of_cpu();
        hypervisor: Text = &machine.hypervisor, "Hypervisor", in_short(), by_platform(Data), label(LabelOf::Platform, "hypervisor");
        product: Text = &machine.product, "Vendor and model of the machine (DMI)", more("in some clouds the instance type"),
            titled("machine");
        emulated: Truth = machine.emulator().is_some(), "Whether an emulator executed the program", no_fact();
        os: Text = machine.os.name.as_ref().unwrap_or(&machine.os.family), "Distribution, or else the kind of system", by_platform(Data), label(LabelOf::Platform, "os");
        os_family: Text = &machine.os.family, "`linux`, `windows`, `macos`", no_fact();
        kernel: Text = &machine.kernel.release, "Release of the kernel", in_short(), by_platform(Data), label(LabelOf::Platform, "kernel");
        tick: Hertz = f64::from(machine.kernel.tick_hz?), "Timer interrupts per second on a busy CPU", of_cpu();
        clock_source: Text = &machine.clocksource.current, "Clock source of the kernel", in_short(), of_cpu(), by_platform(Always), label(LabelOf::Platform, "clocksource");
        clock_sources: Text = joined(machine.clocksource.available.iter().cloned(), " "),
            "All available clock sources, separated by blanks", of_cpu();
        clock_parameters: Text = machine.clocksource.parameters.as_ref()?.join(" "), "Boot parameters about clocks", of_cpu();
        invariant_tsc: Truth = machine.cpu.invariant_tsc, "Whether the TSC runs at a constant rate in all power states", of_cpu();
    }
}

fn frequency_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        tsc: Hertz = report.frequency.tsc_hz, "Rate of the time stamp counter", metric("tsc_frequency"), of_cpu();
        nominal: Hertz = report.frequency.nominal_hz, "Core frequency that the vendor declares", titled("nominal frequency"), of_cpu();
        effective: Hertz = report.frequency.effective_hz, "Measured core frequency", interval(), metric("core_frequency"), no_fact(), of_cpu();
        cycles: Hertz = report.frequency.cycles_hz, "Frequency that converts time to cycles",
            interval(), column("frequency", "frequency"), in_short(), of_cpu();
        cycles_from: Text = &report.frequency.cycles_from, "Source of this frequency", more("`effective`, `given`"), of_cpu();
    }
}

/// The state of the machine during the measurement.
fn condition_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        ntp_synchronised: Truth = report.platform.ntp.as_ref()?.synchronised, "Whether the clock is kept synchronised",
            metric("ntp_synchronised");
        ntp_rate: Ppm = report.platform.ntp.as_ref()?.rate_ppm, "Sum of all trims of the rate of the kernel's clocks",
            metric("ntp_rate");
        ntp_offset: Nanoseconds = report.platform.ntp.as_ref()?.offset_ns as f64, "Remaining offset to be slewed",
            range(Range::ANY), metric("ntp_offset"), no_fact();
        load_one_minute: Number = report.platform.load?.one_minute, "Mean number of threads that ran or were ready to run over the last minute", titled("load"), of_cpu();
        steal_share: Percent = report.platform.steal_share,
            "Share of the time in which CPUs were ready to run but the hypervisor ran other guests", metric("steal"), titled("stolen time %"), of_cpu();
        preloaded: Text = report.platform.preloads()?, "Preloaded libraries, which may replace the clocks of the C library", titled("preloaded library");
        cpu_quota: Number = report.platform.limits.cpu?.cpus, "CPU time limit of the control group, in CPUs";
        report_findings: Text = codes(&report.findings), "Codes of the findings about the whole run", no_fact();
    }
}

/// The run, or the publication.
fn run_fields() -> Vec<Field> {
    field_table! { Read::Report, REPORT, |report| report;
        date: Day = time(&report.created)?.split('T').next(), "Day on which the measurement began, UTC", in_short(), in_tables(Data), by_platform(Data);
        created: Text = time(&report.created), "When the measurement began", no_fact();
        tool_version: Text = (!report.is_published()).then_some(&*report.tool.version), "Version of timermeter that measured", in_tables(Data), by_platform(Data), label(LabelOf::Report, "version");
        profile: Text = &report.settings.plan, "`quick`, `default` or `thorough`", label(LabelOf::Report, "profile");
        seed: Text = report.settings.seed.to_string(), "Seed of all random choices", no_fact();
        measuring_cpu: Count = report.settings.cpu, "CPU that the measuring processes were pinned to", of_cpu();
        runtimes: Text = runtimes(report), "The runtimes whose timers were measured";
        fit: Text = report.assessment.fit.name(), "Whether CLOCK_MONOTONIC can be trusted and is read in user mode in less than 100 ns",
            more("`yes`, `no`, `unknown`"), no_fact(), of_cpu();
        fit_reason: Text = &report.assessment.fit_reason, "Why it is not, or why that is unknown", no_fact(), of_cpu();
        provenance: Text = report.provenance.kind.name(), "`measured` by timermeter, or `published` elsewhere", no_fact(), by_platform(InFull), label(LabelOf::Report, "provenance");
        publication: Text = &report.provenance.source, "The publication of the figures, if timermeter did not measure them", titled("published in"), in_short();
        note: Text = &report.provenance.note, "What the publication says about its figures";
    }
}

/// The names of the runtimes, each with its version.
fn runtimes(report: &Report) -> CellValue {
    let hosted = report
        .heads()
        .filter(|row| row.status.has_figures() && row.runtime != "native");
    let names: BTreeSet<String> = hosted.map(|row| row.runtime.clone()).collect();
    joined(names.into_iter(), ", ")
}

/// The kinds of cores, as in `8 × P-core (0-7)`; `None` if the machine has a single kind.
fn core_kinds(cpu: &Cpu) -> Option<CellValue> {
    let kinds = cpu.core_kinds.as_ref().filter(|kinds| kinds.len() > 1)?;
    let kind = |kind: &CoreKind| {
        let list = kind.list.as_ref().map(|list| format!(" ({list})"));
        format!("{} × {}{}", kind.cpus, kind.name, list.unwrap_or_default())
    };
    Some(joined(kinds.iter().map(kind), ", "))
}

/// A time such as `2026-11-20T12:00:00Z`, in whole seconds; `None` if the text is not a time.
fn time(created: &str) -> Option<String> {
    let at = humantime::parse_rfc3339(created).ok()?;
    let seconds = at.duration_since(UNIX_EPOCH).ok()?.as_secs();
    i64::try_from(seconds).ok().map(date_time)
}
